import { Worker } from 'node:worker_threads'
import { createLimiter } from 'fhir-ops/internal/context'
import { OperationError } from 'fhir-ops/errors'
import { packageFileProblem } from 'fhir-ops/internal/work'
import type { TypeModel } from 'fhir-ops/fhirpath'
import { keepTranslations, type Texts } from '../translator/kept-translations.js'
import { modelTexts, type CqlTranslator, type Translation } from '../translator/translator.js'
import { AMOUNT, checkOptions, having, inputShape, type InputShape } from 'fhir-ops/internal/input'

/** Options of `openWorkerTranslator`. */
export interface WorkerTranslatorOptions {
  /** The FHIR types, for `using FHIR`. */
  readonly model?: TypeModel | undefined
  /**
   * Maximum time of one translation in milliseconds, not counting the loading of the translator and of FHIR and the wait for other texts; twice that for a
   * text that uses models other than System and FHIR. Default 4,000.
   */
  readonly timeoutMs?: number
  /** Maximum length of a text in characters; applies to each included library separately. Default 500,000. */
  readonly maxLength?: number
  /** Maximum memory of the thread in MiB; a text that needs more is refused. Default 256. */
  readonly maxMemory?: number
}

const SHAPE: InputShape = inputShape<WorkerTranslatorOptions>({
  model: having('types of FHIR', ['type']),
  timeoutMs: AMOUNT,
  maxLength: AMOUNT,
  maxMemory: AMOUNT,
})

/** A translator that runs in its own thread. */
export interface WorkerTranslator extends CqlTranslator {
  /**
   * Starts the thread and loads FHIR 4.0.1, so that the first text does not wait for that: on a busy machine it may take longer than an operation may.
   *
   * @throws {OperationError} `not-supported` when the package `@cqframework/cql` is not installed.
   */
  ready(): Promise<void>
  /** Ends the thread. */
  close(): Promise<void>
}

/** Maximum time for loading the translator, and for loading FHIR into it. */
const LOAD_MS = 60_000

/** The version of FHIR that is loaded beforehand. */
const FHIR = '4.0.1'

/** Maximum length of model information in characters. That of QI-Core has 1.4 million. */
const MAX_MODEL = 5_000_000

/** Maximum number of texts that wait while another is translated. */
const MAX_WAITING = 64

/** Maximum time that a text waits for others. */
const MAX_WAIT_MS = 5000

/**
 * Opens a translator that runs the reference translator in its own thread, which starts at first use. Texts are translated one after the other. If one
 * takes too long or too much memory, the thread is terminated, and only that text fails. Translations are kept, of up to 250,000 characters of CQL.
 *
 * `translate` rejects with an `OperationError`: `too-costly` for texts that are too long or take too long, `throttled` when too many wait,
 * `not-supported` when the package `@cqframework/cql` is not installed.
 */
export function openWorkerTranslator(options: WorkerTranslatorOptions = {}): WorkerTranslator {
  checkOptions('openWorkerTranslator', SHAPE, options)
  const { model, timeoutMs = 4000, maxLength = 500_000, maxMemory = 256 } = options
  const limiter = createLimiter({
    concurrency: 1,
    queue: MAX_WAITING,
    waitMs: MAX_WAIT_MS,
    refusal: 'Too many CQL texts at the same time.',
  })
  let thread: TranslatorThread | undefined
  const running = (): TranslatorThread => (thread = thread?.hasEnded() === false ? thread : startThread(model, maxMemory))
  const translate = keepTranslations<Translation>(async (text, includes, models) => {
    if ([text, ...includes.values()].some((one) => one.length > maxLength))
      throw new OperationError('too-costly', `A CQL library may have at most ${maxLength} characters.`)
    if ([...models.values()].some((one) => one.length > MAX_MODEL))
      throw new OperationError('too-costly', `Model information may have at most ${MAX_MODEL} characters.`)
    return await limiter.run(async () => await running().ask({ text, includes, models }, models.size === 0 ? timeoutMs : timeoutMs * 2))
  })
  return {
    translate,
    ready: async () => await limiter.run(async () => await running().load(FHIR)),
    close: async () => await thread?.end(),
  }
}

interface Source {
  readonly text: string
  readonly includes: Texts
  readonly models: Texts
}

interface TranslatorThread {
  /** Waits until the thread has loaded a version of FHIR, if it was given the types. */
  load(version: string | undefined): Promise<void>
  /** Translates a text; the thread takes one at a time. */
  ask(source: Source, timeoutMs: number): Promise<Translation>
  hasEnded(): boolean
  end(): Promise<void>
}

/** A message from the thread: first that it is ready, then an answer to each text. */
export interface TranslatorMessage {
  readonly ready?: true
  readonly translation?: Translation
  readonly failure?: string
}

function startThread(model: TypeModel | undefined, maxMemory: number): TranslatorThread {
  const worker = new Worker(workerFile(), {
    workerData: model === undefined ? undefined : modelTexts(model),
    resourceLimits: { maxOldGenerationSizeMb: maxMemory },
    // The package prints a line when it is loaded, which must not reach the output of a command.
    stdout: true,
  })
  worker.unref()
  let ended = false
  let receive: ((message: TranslatorMessage | Error) => void) | undefined
  const end = async (): Promise<void> => {
    ended = true
    await worker.terminate()
  }
  const next = (timeoutMs: number): Promise<TranslatorMessage> =>
    new Promise((resolve, reject) => {
      const finish = (message: TranslatorMessage | Error): void => {
        clearTimeout(timer)
        receive = undefined
        if (message instanceof Error) reject(message)
        else resolve(message)
      }
      const timer = setTimeout(() => {
        void end()
        finish(new OperationError('too-costly', `A translation may take at most ${timeoutMs / 1000} seconds.`))
      }, timeoutMs)
      receive = finish
    })
  worker.on('message', (message: TranslatorMessage) => receive?.(message))
  worker.on('error', (cause) => {
    ended = true
    receive?.(failureOf(cause))
  })
  worker.on('exit', () => {
    ended = true
    receive?.(new OperationError('aborted', 'The CQL translator was closed.'))
  })
  const answer = async (source: Source, timeoutMs: number): Promise<Translation> => {
    const answered = next(timeoutMs)
    worker.postMessage(source)
    return translationIn(await answered)
  }
  const loaded = new Set<string>()
  const ready = next(LOAD_MS)
  ready.catch(() => undefined) // reported by the first text
  const load = async (version: string | undefined): Promise<void> => {
    await ready
    if (model === undefined || version === undefined || loaded.has(version)) return
    await answer({ text: smallLibrary(version), includes: new Map(), models: new Map() }, LOAD_MS)
    loaded.add(version)
  }
  return {
    hasEnded: () => ended,
    end,
    load,
    ask: async (source, timeoutMs) => {
      await load(source.models.size > 0 ? undefined : fhirVersion(source))
      return await answer(source, timeoutMs)
    },
  }
}

/** The version of FHIR that a text or one that it includes uses; `undefined` for none. */
function fhirVersion({ text, includes }: Source): string | undefined {
  for (const one of [text, ...includes.values()]) {
    const [, version] = /\busing\s{1,9}"?FHIR"?\s{1,9}version\s{1,9}'(4\.0\.[01])'/.exec(one) ?? []
    if (version !== undefined) return version
  }
  return undefined
}

/** A library for which FHIR is loaded. This takes a second or, on a busy machine, several, which the first text that uses FHIR is not charged for. */
function smallLibrary(version: string): string {
  return `library Small using FHIR version '${version}' include FHIRHelpers version '${version}' context Patient define X: Patient.gender = 'x'`
}

function translationIn({ translation, failure }: TranslatorMessage): Translation {
  if (translation !== undefined) return translation
  throw new OperationError('not-supported', 'CQL text cannot be translated here: the package @cqframework/cql failed.', { cause: failure })
}

function failureOf(cause: Error): OperationError {
  const isMemory = 'code' in cause && cause.code === 'ERR_WORKER_OUT_OF_MEMORY'
  return isMemory
    ? new OperationError('too-costly', 'The translation needs too much memory.', { cause })
    : new OperationError('not-supported', packageFileProblem(cause, '@fhir-ops/cql') ?? 'The CQL translator ended.', { cause })
}

/** The file lies beside the built modules; tests run the sources, which use the built file. */
function workerFile(): URL {
  return new URL(import.meta.url.endsWith('.ts') ? '../../dist/node/worker.js' : './worker.js', import.meta.url)
}
