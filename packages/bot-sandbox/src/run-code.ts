import type { QuickJSHandle, VmCallResult } from 'quickjs-emscripten-core'
import type { DoneMessage, ReplyMessage, RunMessage } from './protocol.js'
import { CODE_FILE, type Prepared } from './compiled-code.js'
import type { CurrentRun, Realm } from './realm.js'
import { createRunState, type RunState } from './run-state.js'

/** What a run works with besides its message. */
export interface RunOptions {
  readonly realm: Realm
  readonly call: CurrentRun['call']
  readonly onLook: CurrentRun['onLook']
  /** The next answer to a call; `undefined` after that many milliseconds. */
  readonly nextReply: (waitMs: number) => ReplyMessage | undefined | Promise<ReplyMessage | undefined>
}

/** What a run needs of its message. */
type RunInput = Pick<RunMessage, 'code' | 'event' | 'limits'> & Partial<Pick<RunMessage, 'isOnlyCompiled'>>

/** Runs a bot's code in a realm, which must be set back afterwards. */
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

/** False when the engine broke, for example on its own stack. */
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

/** Thrown by `valueOf` for what the bot threw, which has ended the run. */
class RunEnded extends Error {}

async function drive(run: Run): Promise<void> {
  const { realm, state, message, options } = run
  const { context } = realm
  const prepared = realm.prepare(message.code)
  if (message.isOnlyCompiled === true) return compiled(run, prepared)
  if (prepared.kind === 'module') call(run, ['startCompiled', context.newString(message.event)])
  else {
    const given = loaded(run, prepared)
    // A script may export its handler in an async function, whose end only its promise shows.
    if (hasEnded(run)) return
    call(run, ['start', given, context.newString(message.event)])
  }
  while (!hasEnded(run)) {
    if (state.openCalls() === 0) runTimer(run)
    else answerCall(run, await options.nextReply(state.leftMs()))
  }
}

/** Ends the run without running any of the code: it compiles, or fails where it does not. */
function compiled(run: Run, prepared: Prepared): void {
  const options = { type: prepared.kind === 'source' ? prepared.type : 'global', compileOnly: true } as const
  if (prepared.kind === 'source') valueOf(run, run.realm.context.evalCode(run.message.code, CODE_FILE, options))
  run.state.end({ head: '', value: '' })
}

/** What the code gave when it was loaded: a module, a promise of one, or whatever a script gives. */
function loaded(run: Run, prepared: Exclude<Prepared, { readonly kind: 'module' }>): QuickJSHandle {
  const { context } = run.realm
  if (prepared.kind === 'script') return valueOf(run, context.callFunction(prepared.body, context.undefined))
  return valueOf(run, context.evalCode(run.message.code, CODE_FILE, { type: prepared.type }))
}

/** Runs what is due now. True when the run has ended. */
function hasEnded(run: Run): boolean {
  const { realm, state } = run
  while (!state.isOver()) {
    const done = realm.runtime.executePendingJobs(JOBS_AT_ONCE)
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

/** The value of a call; what was thrown instead ends the run. */
function valueOf(run: Run, result: VmCallResult<QuickJSHandle>): QuickJSHandle {
  if (result.error === undefined) return result.value
  run.state.fail(described(run, result.error))
  throw new RunEnded()
}

/** The text of what was thrown; the realm itself writes it, so that no code of the bot runs for us. */
function described(run: Run, error: QuickJSHandle): string {
  const { context, api } = run.realm
  if (run.state.isOver()) return ''
  const result = context.callFunction(api.describe, context.undefined, error)
  return result.error === undefined && context.typeof(result.value) === 'string' ? context.getString(result.value) : ''
}
