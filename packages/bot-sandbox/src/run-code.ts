import type { ExecutePendingJobsResult, QuickJSContext, QuickJSHandle, VmCallResult } from 'quickjs-emscripten-core'
import { hostObject } from './host-object.js'
import type { LogLine, Outcome, ReplyMessage, RunMessage } from './protocol.js'
import type { Realm } from './realm.js'
import { createRunState, type RunState } from './run-state.js'

/** What a run works with beside its message. */
export interface RunOptions {
  /** Used for this run only. */
  readonly realm: Realm
  /** An expression that gives the HL7 part of the prelude, which is loaded at its first use. */
  readonly hl7Script: string
  /** Sends a call of a capability to the host. */
  readonly call: (call: number, method: string, args: string) => void
  /** The next answer to a call; `undefined` after that many milliseconds. */
  readonly nextReply: (waitMs: number) => Promise<ReplyMessage | undefined>
}

/** What a run gave. */
export interface RunResult {
  readonly outcome: Outcome
  readonly log: readonly LogLine[]
  /** False when the engine may be damaged or bloated: use another for the next run. */
  readonly isClean: boolean
}

/** Runs a bot's code in a realm, and disposes of it. */
export async function runCode(message: RunMessage, options: RunOptions): Promise<RunResult> {
  const state = createRunState(message.limits)
  try {
    await drive({ realm: options.realm, state, message, options })
    if (isWithinLimits(state)) options.realm.dispose()
  } catch (error) {
    // Thrown by `valueOf` for what the bot threw, which has ended the run, or by the engine that broke, for example on its own stack.
    state.end({ code: 'bot-failed', message: 'The bot broke its runtime.', diagnostics: String(error) })
    return { outcome: ended(state), log: state.log, isClean: false }
  }
  return { outcome: ended(state), log: state.log, isClean: isWithinLimits(state) }
}

interface Run {
  readonly realm: Realm
  readonly state: RunState
  readonly message: RunMessage
  readonly options: RunOptions
}

async function drive(run: Run): Promise<void> {
  const { realm, state, message, options } = run
  const { context, keep } = realm
  // Asked every few thousand steps; `true` ends what is running, and no code can catch that.
  realm.runtime.setInterruptHandler(state.isOver)
  realm.runtime.setMemoryLimit(message.limits.memoryBytes)
  const api = furnished(run)
  const loaded = valueOf(run, context.evalCode(message.code, 'bot.js', { type: isScript(run) ? 'global' : 'module' }), api)
  call(run, api, ['start', loaded, keep(context.newString(message.event))])
  while (!hasEnded(run, api)) {
    if (state.openCalls() === 0) runTimer(run, api)
    else answerCall(run, api, await options.nextReply(state.leftMs()))
  }
}

/** True for code that compiles as a script. A module does not: at least its `export` is not a script. */
function isScript({ realm, message }: Run): boolean {
  const compiled = realm.context.evalCode(message.code, 'bot.js', { type: 'global', compileOnly: true })
  realm.keep(compiled.error ?? compiled.value)
  return compiled.error === undefined
}

/** The `SandboxApi` of a furnished realm. */
function furnished(run: Run): QuickJSHandle {
  const { realm, state, message, options } = run
  const { context, keep, furnish } = realm
  const evaluate = (script: string) => valueOf(run, context.evalCode(script, 'prelude.js', { type: 'global' }))
  const loadHl7 = () => evaluate(options.hl7Script)
  const given = keep(context.newObject())
  context.setProp(given, 'host', hostObject(realm, { state, call: options.call, loadHl7, outputBytes: message.limits.outputBytes }))
  context.setProp(given, 'grants', evaluate(`(${JSON.stringify(message.grants)})`))
  return valueOf(run, context.callFunction(furnish, context.undefined, given))
}

/** Runs what is due now. True when the run has ended. */
function hasEnded(run: Run, api: QuickJSHandle): boolean {
  const { realm, state } = run
  while (!state.isOver() && realm.runtime.hasPendingJob()) jobsDone(run, realm.runtime.executePendingJobs(JOBS_AT_ONCE), api)
  return state.isOver()
}

const JOBS_AT_ONCE = 1_000

function jobsDone(run: Run, result: ExecutePendingJobsResult, api: QuickJSHandle): void {
  if (result.error === undefined) return
  run.state.fail(described(run, run.realm.keep(result.error), api))
}

function runTimer(run: Run, api: QuickJSHandle): void {
  const { realm, state, message } = run
  const { context, keep } = realm
  const timer = context.getString(call(run, api, ['nextTimer', keep(context.newNumber(message.limits.timeoutMs))]))
  if (timer === 'late') state.end({ code: 'bot-timeout', message: `The bot set a timer for later than ${message.limits.timeoutMs} ms.` })
  if (timer === 'none') state.end({ code: 'bot-failed', message: 'The bot waits for a promise that nothing will settle.' })
}

function answerCall(run: Run, api: QuickJSHandle, reply: ReplyMessage | undefined): void {
  if (reply === undefined) return
  const { context, keep } = run.realm
  run.state.callAnswered()
  call(run, api, [
    'reply',
    keep(context.newNumber(reply.call)),
    reply.ok ? context.true : context.false,
    keep(context.newString(reply.text)),
  ])
}

function call(run: Run, api: QuickJSHandle, [method, ...args]: readonly [string, ...QuickJSHandle[]]): QuickJSHandle {
  const { context, keep } = run.realm
  return valueOf(run, context.callFunction(keep(context.getProp(api, method)), api, ...args), api)
}

/** The value of a call; what was thrown instead ends the run. */
function valueOf(run: Run, result: VmCallResult<QuickJSHandle>, api?: QuickJSHandle): QuickJSHandle {
  if (result.error === undefined) return run.realm.keep(result.value)
  run.state.fail(described(run, run.realm.keep(result.error), api))
  throw new Error('The run has ended.')
}

/** The text of what was thrown; the realm itself writes it, so that no code of the bot runs for us. */
function described(run: Run, error: QuickJSHandle, api: QuickJSHandle | undefined): string {
  const { context, keep } = run.realm
  if (run.state.isOver() || api === undefined) return ''
  return stringOf(context, context.callFunction(keep(context.getProp(api, 'describe')), api, error), keep)
}

function stringOf(context: QuickJSContext, result: VmCallResult<QuickJSHandle>, keep: Realm['keep']): string {
  if (result.error !== undefined) {
    keep(result.error)
    return ''
  }
  const text = keep(result.value)
  return context.typeof(text) === 'string' ? context.getString(text) : ''
}

function isWithinLimits(state: RunState): boolean {
  const outcome = state.outcome()
  return outcome !== undefined && (!('code' in outcome) || outcome.code === 'bot-failed')
}

function ended(state: RunState): Outcome {
  return state.outcome() ?? { code: 'bot-failed', message: 'The bot gave no answer.' }
}
