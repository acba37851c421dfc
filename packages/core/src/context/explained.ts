import { OperationError } from '../errors/index.js'
import { createRecorder, type Explanation } from '../explain/index.js'
import type { OperationContext } from './context.js'

/** What the input of an operation that explains itself may have besides what it asks for. */
export interface ExplainOption {
  /** True: the result, or the error, has an `explanation`. Default false, which costs nothing. */
  readonly explain?: boolean | undefined
}

/** What the result of such an operation may have. */
export interface Explained {
  /** What decided; present when the input asked for it. */
  readonly explanation?: Explanation | undefined
}

/**
 * Runs an operation, and puts what it wrote down into its result when the input asks for it. That there is an input is for the operation to check.
 *
 * @throws {OperationError} as the operation; with the explanation in `detail` when it was asked for.
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
