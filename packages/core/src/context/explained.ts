import { OperationError } from '../errors/index.js'
import { createRecorder, type Explanation } from '../explain/index.js'
import type { OperationContext } from './context.js'

/** The option `explain` of operations that can explain their result. */
export interface ExplainOption {
  /** True: the result or the error has an `explanation`. Default false, which costs nothing. */
  readonly explain?: boolean | undefined
}

/** The explanation in the result of an operation. */
export interface Explained {
  /** How the result was reached; present when the input has `explain: true`. */
  readonly explanation?: Explanation | undefined
}

/**
 * Runs an operation and adds the explanation that it recorded to its result, when the input asks for one. The operation itself checks its input.
 *
 * @throws {OperationError} as the operation; with the explanation in `detail` when it was requested.
 */
export function explained<T extends object>(
  ctx: OperationContext,
  input: ExplainOption | undefined,
  run: (ctx: OperationContext) => Promise<T>,
): Promise<T & Explained> {
  return input?.explain === true ? recorded(ctx, run) : run(ctx)
}

async function recorded<T extends object>(ctx: OperationContext, run: (ctx: OperationContext) => Promise<T>): Promise<T & Explained> {
  const { explain, explanation } = createRecorder()
  try {
    return { ...(await run({ ...ctx, explain })), explanation: explanation() }
  } catch (error) {
    if (!(error instanceof OperationError)) throw error
    throw new OperationError(error.code, error.message, { ...error.detail, explanation: explanation() })
  }
}
