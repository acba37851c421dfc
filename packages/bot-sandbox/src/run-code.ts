import type { QuickJSHandle, VmCallResult } from 'quickjs-emscripten-core'
import type { DoneMessage, ReplyMessage, RunMessage } from './protocol.js'
import { CODE_FILE, type Prepared } from './snapshot.js'
import type { CurrentRun, Realm } from './realm.js'
import { createRunState, type RunState } from './run-state.js'

/** Options of `runCode`. */
export interface RunOptions {
  readonly realm: Realm
  readonly call: CurrentRun['call']
  readonly onLook: CurrentRun['onLook']
  /** Returns the next answer to a call; `undefined` if none arrives within `waitMs` milliseconds. */
  readonly nextReply: (waitMs: number) => ReplyMessage | undefined | Promise<ReplyMessage | undefined>
}

/** The parts of the message that a run needs. */
type RunInput = Pick<RunMessage, 'code' | 'event' | 'limits'> & Partial<Pick<RunMessage, 'isOnlyCompiled'>>

/** Runs a bot's code in a realm, which must be restored afterwards. */
export async function runCode(message: RunInput, options: RunOptions): Promise<Omit<DoneMessage, 'type' | 'run'>> {
  const { realm } = options
  const state = createRunState(message.limits)
  realm.begin({ state, call: options.call, onLook: options.onLook, outputBytes: message.limits.outputBytes })
  const isWhole = await driven({ realm, state, message, options })
  const outcome = state.outcome() ?? { code: 'bot-failed', message: 'The bot gave no answer.' }
  const isWithinLimits = !('code' in outcome) || outcome.code === 'bot-failed'
  return { outcome, log: state.log, isReusable: isWhole && isWithinLimits && realm.isWhole() }
}

interface Run {
  readonly realm: Realm
  readonly state: RunState
  readonly message: RunInput
  readonly options: RunOptions
}

/** False if the engine broke, for example by a stack overflow of its own. */
async function driven(run: Run): Promise<boolean> {
  try {
    await drive(run)
    return true
  } catch (error) {
    if (error instanceof RunEnded) return true
    run.state.end({ code: 'bot-failed', message: 'The bot broke its runtime.', diagnostics: String(error) })
    return false
  }
}

/** Thrown by `valueOf` if the bot threw, which has ended the run. */
class RunEnded extends Error {}

async function drive(run: Run): Promise<void> {
  const { realm, state, message, options } = run
  const { context } = realm
  const prepared = realm.prepare(message.code)
  if (message.isOnlyCompiled === true) return compiled(run, prepared)
  if (prepared.kind === 'module') call(run, ['startCompiled', context.newString(message.event.join(''))])
  else {
    const given = loaded(run, prepared)
    // A script may export its handler in an async function, which must end first.
    if (hasEnded(run)) return
    call(run, ['start', given, context.newString(message.event.join(''))])
  }
  while (!hasEnded(run)) {
    if (state.openCalls() === 0) runTimer(run)
    else answerCall(run, await options.nextReply(state.leftMs()))
  }
}

/** Ends the run without running the code: successfully if the code compiles, otherwise with its error. */
function compiled(run: Run, prepared: Prepared): void {
  const options = { type: prepared.kind === 'source' ? prepared.type : 'global', compileOnly: true } as const
  if (prepared.kind === 'source') valueOf(run, run.realm.context.evalCode(run.message.code, CODE_FILE, options))
  run.state.end({ head: '', value: '' })
}

/** Loads the code. Returns a module, a promise of one, or the result of a script. */
function loaded(run: Run, prepared: Exclude<Prepared, { readonly kind: 'module' }>): QuickJSHandle {
  const { context } = run.realm
  if (prepared.kind === 'script') return valueOf(run, context.callFunction(prepared.body, context.undefined))
  return valueOf(run, context.evalCode(run.message.code, CODE_FILE, { type: prepared.type }))
}

/** Runs everything that is due now. True if the run has ended. */
function hasEnded(run: Run): boolean {
  const { realm, state } = run
  while (!state.isOver()) {
    const done = realm.runtime.executePendingJobs(JOBS_AT_ONCE)
    realm.lookForAnswer()
    if (done.error !== undefined) state.fail(described(run, done.error))
    else if (done.value < JOBS_AT_ONCE) return state.isOver()
  }
  return true
}

const JOBS_AT_ONCE = 1_000

function runTimer(run: Run): void {
  const { realm, state, message } = run
  const { context } = realm
  const timer = context.getString(call(run, ['nextTimer', context.newNumber(message.limits.timeoutMs)]))
  if (timer === 'late') state.end({ code: 'bot-timeout', message: `The bot set a timer for later than ${message.limits.timeoutMs} ms.` })
  if (timer === 'none') state.end({ code: 'bot-failed', message: 'The bot waits for a promise that nothing will settle.' })
}

function answerCall(run: Run, reply: ReplyMessage | undefined): void {
  if (reply === undefined) return
  const { context } = run.realm
  run.state.callAnswered()
  call(run, ['reply', context.newNumber(reply.call), reply.ok ? context.true : context.false, context.newString(reply.text)])
}

function call(run: Run, [method, ...args]: readonly [keyof Realm['api'], ...QuickJSHandle[]]): QuickJSHandle {
  const { context, api } = run.realm
  return valueOf(run, context.callFunction(api[method], context.undefined, args))
}

/** The value of a call; if it threw, the run ends. */
function valueOf(run: Run, result: VmCallResult<QuickJSHandle>): QuickJSHandle {
  if (result.error === undefined) return result.value
  run.state.fail(described(run, result.error))
  throw new RunEnded()
}

/** The text of a thrown value. The realm itself writes it, so that the host does not access objects of the bot. */
function described(run: Run, error: QuickJSHandle): string {
  const { context, api } = run.realm
  if (run.state.isOver()) return ''
  const result = context.callFunction(api.describe, context.undefined, error)
  return result.error === undefined && context.typeof(result.value) === 'string' ? context.getString(result.value) : ''
}
