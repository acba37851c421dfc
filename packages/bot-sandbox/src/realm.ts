import {
  type QuickJSContext,
  type QuickJSHandle,
  type QuickJSRuntime,
  newQuickJSWASMModuleFromVariant,
  newVariant,
  type QuickJSSyncVariant,
  type QuickJSWASMModule,
} from 'quickjs-emscripten-core'
import type { Answered, Failure, Grants, Outcome } from './protocol.js'
import { createRunState, type RunState } from './run-state.js'
import type { SandboxApi } from './prelude/host.js'
import { CODE_FILE, codePreparer, type Prepared, takeSnapshot } from './snapshot.js'
import variant from '@jitl/quickjs-ng-wasmfile-release-sync'

/** The current run of a realm, which the host functions serve. */
export interface CurrentRun {
  readonly state: RunState
  /** Sends a call of a capability to the host. */
  readonly call: (call: number, method: string, args: string) => void
  /** Called every few thousand steps with the computing time of the run in milliseconds. */
  readonly onLook: (computedMs: number) => void
  readonly outputBytes: number
}

/** A JavaScript realm for bots in its own engine. It can be restored to its state before any bot ran. */
export interface Realm {
  readonly runtime: QuickJSRuntime
  readonly context: QuickJSContext
  /** The memory of its engine. */
  readonly memory: WebAssembly.Memory
  /** The functions of the prelude. */
  readonly api: Readonly<Record<keyof SandboxApi, QuickJSHandle>>
  /** Prepares code, and returns how to run it. A module does not compile as a script, because at least its `export` is not valid there. */
  prepare(code: string): Prepared
  /** Sets the run that the functions of the host serve from now on. */
  begin(run: CurrentRun): void
  /** Ends the run if the bot has given its answer. */
  lookForAnswer(): void
  /** False if the memory has grown. Then the realm must not be used any more. */
  isWhole(): boolean
  /** Restores the whole memory, so that nothing of a run is left: no value, no change to a builtin, no pending job. Handles created since are invalid. */
  reset(): void
}

/** Options of `createRealm`. */
interface RealmOptions {
  /** An expression whose value is the prelude's function `furnish`. */
  readonly prelude: string
  /** The methods that bots are granted by the name of their capability. */
  readonly grants: Grants
  /** Maximum memory that a bot may allocate. */
  readonly memoryBytes: number
}

/** Bytes of the engine's stack that JavaScript may use, and that its native functions may use in addition. */
const STACK_BYTES = 256 * 1024
const NATIVE_STACK_BYTES = 64 * 1024

/** Creates a realm. This takes milliseconds; restoring one takes microseconds. */
export async function createRealm({ prelude, grants, memoryBytes }: RealmOptions): Promise<Realm> {
  const engine = await newEngine(memoryBytes)
  const runtime = engine.newRuntime()
  runtime.setMaxStackSize(STACK_BYTES)
  const context = runtime.newContext()
  let run = noRun()
  const evaluate = (script: string): QuickJSHandle => context.unwrapResult(context.evalCode(script, 'prelude.js', { type: 'global' }))
  const given = context.newObject()
  // An own property, so that a bot cannot intercept it in the prototype.
  context.setProp(given, 'answer', context.newString(''))
  const answerName = context.newString('answer')
  const lookForAnswer = (): void => {
    const { state, outputBytes } = run
    if (state.outcome() !== undefined) return
    const answer = context.getProp(given, answerName).consume((value) => textOf(context, value))
    if (answer !== '') state.end(answered(answer, outputBytes))
  }
  // Called every few thousand steps. `true` ends the running code, which cannot catch this.
  runtime.setInterruptHandler(() => {
    run.onLook(run.state.computedMs())
    lookForAnswer()
    return run.state.isOver()
  })
  const host = hostObject(context, () => {
    // What the bot does after its answer must not change it.
    lookForAnswer()
    return run
  })
  context.setProp(given, 'host', host)
  context.setProp(given, 'grants', evaluate(`(${JSON.stringify(grants)})`))
  context.setProp(given, 'importCompiled', evaluate(`() => import('${CODE_FILE}')`))
  const furnished = context.unwrapResult(context.callFunction(evaluate(prelude), context.undefined, given))
  const api = {
    start: context.getProp(furnished, 'start'),
    startCompiled: context.getProp(furnished, 'startCompiled'),
    reply: context.getProp(furnished, 'reply'),
    nextTimer: context.getProp(furnished, 'nextTimer'),
    describe: context.getProp(furnished, 'describe'),
  }
  const memory = engine.getWasmMemory()
  const snapshot = takeSnapshot(memory, {
    stackBytes: STACK_BYTES + NATIVE_STACK_BYTES,
    allocate(bytes) {
      const block = context.newArrayBuffer(new Uint8Array(bytes).fill(255).buffer)
      return () => block.dispose()
    },
  })
  const prepare = codePreparer({ context, snapshot, memoryBytes })
  return {
    runtime,
    context,
    memory,
    api,
    prepare,
    begin: (next) => void (run = next),
    lookForAnswer,
    isWhole: snapshot.isWhole,
    reset: snapshot.restore,
  }
}

/** Random words for the next runs. Requesting many costs as much as requesting a few. */
const words = new Uint32Array(1_024)
let unused = 0

function randomWord(): number {
  if (unused === 0) unused = crypto.getRandomValues(words).length
  unused -= 1
  return words[unused] ?? 0
}

/** The current run while the prelude is loaded. */
function noRun(): CurrentRun {
  const limits = { timeoutMs: Infinity, memoryBytes: Infinity, outputBytes: Infinity, logBytes: Infinity, sourceBytes: Infinity }
  return { state: createRunState(limits), call: () => {}, onLook: () => {}, outputBytes: Infinity }
}

/** Creates the `PreludeHost` of a realm. Only texts and numbers are passed; a value of another type is passed as the empty text. */
function hostObject(context: QuickJSContext, current: () => CurrentRun): QuickJSHandle {
  const host = context.newObject()
  const text = (handle: QuickJSHandle | undefined): string => textOf(context, handle)
  const methods: Readonly<Record<string, (...args: QuickJSHandle[]) => void | QuickJSHandle>> = {
    log: (level, line) => current().state.addLog({ level: logLevel(text(level)), text: text(line) }),
    call(number, method, args) {
      const { state, call, outputBytes } = current()
      state.callMade()
      const given = text(args)
      if (given.length > outputBytes) state.end(tooCostly(`The bot passed more than ${outputBytes} bytes to a call.`))
      if (state.outcome() === undefined && number !== undefined) call(context.getNumber(number), text(method), given)
    },
    randomWord: () => context.newNumber(randomWord()),
    elapsedMs: () => context.newNumber(current().state.elapsedMs()),
    fail: (thrown) => current().state.fail(text(thrown)),
  }
  for (const [name, method] of Object.entries(methods)) context.setProp(host, name, context.newFunction(name, method))
  return host
}

function textOf(context: QuickJSContext, handle: QuickJSHandle | undefined): string {
  return handle !== undefined && context.typeof(handle) === 'string' ? context.getString(handle) : ''
}

function logLevel(level: string): 'debug' | 'info' | 'warn' | 'error' {
  return level === 'debug' || level === 'warn' || level === 'error' ? level : 'info'
}

/** Maximum length of the head. A status and the headers that `botResponse` accepts are shorter. */
const MAX_HEAD = 16_384

/**
 * Reads an answer, and rejects one that is too long, because the host's thread would take long to parse it. A string takes up to six times its length in
 * JSON, so one that may be too long is accepted here; the caller checks the exact bound.
 */
function answered(whole: string, outputBytes: number): Outcome {
  const headEnd = whole.indexOf('\n')
  const answer: Answered = { head: whole.slice(0, headEnd), value: whole.slice(headEnd + 1) }
  const bound = answer.value.startsWith('"') ? 6 * outputBytes + 2 : outputBytes
  const isTooLong = answer.head.length > MAX_HEAD || answer.value.length > bound
  return isTooLong ? tooCostly(`The bot returned more than ${outputBytes} bytes.`) : answer
}

function tooCostly(message: string): Failure {
  return { code: 'bot-too-costly', message }
}

const PAGE = 64 * 1024
/** Initial memory of the engine: its own data, its stack, and about 10 MB for bots. */
const FIRST_PAGES = 256

/**
 * Starts a JavaScript engine: an instance of QuickJS with its own WebAssembly memory.
 *
 * @param memoryBytes Maximum memory that a bot may allocate. The maximum of the WebAssembly memory is a quarter more, because not all of it can be used.
 */
function newEngine(memoryBytes: number): Promise<QuickJSWASMModule> {
  const maximum = Math.min(FIRST_PAGES + Math.ceil((memoryBytes * 1.25) / PAGE), MAX_PAGES)
  return newQuickJSWASMModuleFromVariant(newVariant(quickJs(), { wasmMemory: new WebAssembly.Memory({ initial: FIRST_PAGES, maximum }) }))
}

/** The maximum that the engine declares. */
const MAX_PAGES = 32_768

function quickJs(): QuickJSSyncVariant {
  // The variant's types describe its CommonJS form, in which it is one level deeper.
  const given: unknown = variant
  if (!isVariant(given)) throw new TypeError('The QuickJS variant has another form.')
  return given
}

function isVariant(value: unknown): value is QuickJSSyncVariant {
  return typeof value === 'object' && value !== null && 'type' in value && value.type === 'sync'
}
