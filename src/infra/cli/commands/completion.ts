import { oneOf } from '../arguments.js';
import { completionFor, shells } from '../completion.js';
import type { Register } from '../invocation.js';

export const completionCommand: Register = ({ program, add }) => {
  add(program, {
    use: 'completion <shell>',
    key: 'completion',
    run: ({ args }) => {
      const shell = oneOf('shell', args[0] ?? '', shells);
      const script = completionFor(shell, program);
      return Promise.resolve({
        name: 'completion',
        data: { shell, script },
        text: () => script,
      });
    },
  });
};
