import * as E from 'fp-ts/lib/Either.js';
import type * as TE from 'fp-ts/lib/TaskEither.js';

/** Runs a call and gives its result. Throws, with the fault in its words, when it was refused. */
export const valueOf = async <F, A>(call: TE.TaskEither<F, A>): Promise<A> => {
  const answer = await call();
  if (E.isLeft(answer)) throw new Error(`refused: ${JSON.stringify(answer.left)}`);
  return answer.right;
};

/** Runs a call and gives its fault. Throws when it was not refused. */
export const refusalOf = async <F, A>(call: TE.TaskEither<F, A>): Promise<F> => {
  const answer = await call();
  if (E.isRight(answer)) throw new Error(`not refused: ${JSON.stringify(answer.right)}`);
  return answer.left;
};
