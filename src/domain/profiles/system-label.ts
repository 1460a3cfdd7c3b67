/** First line of a system text that is sent as words of a user, where the policy asks for that. */
export const SYSTEM_LABEL = '[Instruction of the application, not of the user:]';
