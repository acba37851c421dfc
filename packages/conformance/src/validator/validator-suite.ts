import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { forRequest, type OperationContext } from 'fhir-ops/context'
import { OperationError, outcomeOf } from 'fhir-ops/errors'
import { isObject, stringAt, type JsonObject } from 'fhir-ops/internal/json'
import { parametersFromQuery } from 'fhir-ops/internal/parameters'
import { putResource } from 'fhir-ops/storage'
import { validateOperation } from 'fhir-ops/internal/operations'

/** One run of a test: setup, input and expected result. */
export interface SuiteRun {
  readonly mode: string
  readonly setup?: readonly string[]
  readonly resource?: string
  readonly profile?: string
  readonly expected?: string
  readonly verdictOnly?: boolean
  readonly verdict?: string
}

interface SuiteTest {
  readonly name: string
  readonly module: string
  readonly group: string
  readonly resource: string
  readonly resourceType: string
  readonly packages?: readonly string[]
  readonly options?: JsonObject
}

export interface Levels {
  readonly verdict: boolean
  readonly location: boolean
  readonly full: boolean
  readonly notes: readonly string[]
}

/** The parts of the suite's own runner that compare and report. */
interface SuiteRunner {
  loadTests(dir: string): readonly SuiteTest[]
  applicable(test: SuiteTest): { runs: readonly SuiteRun[]; reason: string | null }
  compare(expected: unknown, actual: unknown, run: SuiteRun): Levels
  compareVerdict(verdict: string | undefined, actual: unknown): Levels
}

/** The result of a test. */
export interface TestResult extends Levels {
  readonly test: SuiteTest
  readonly issues: readonly unknown[]
}

/** Loads the runner from the folder of the suite's data. */
export async function suiteRunner(dir: string): Promise<SuiteRunner> {
  const runner: SuiteRunner = await import(/* @vite-ignore */ pathToFileURL(join(dir, 'run.mjs')).href)
  return runner
}

/** Runs a test as the suite's runner does, its setup and packages as definitions of the request. */
export async function runTest(suite: { dir: string; runner: SuiteRunner; ctx: OperationContext }, test: SuiteTest): Promise<TestResult> {
  const { dir, runner } = suite
  const resources = (test.packages ?? []).flatMap((name) => packageResources(dir, name))
  const results: (Levels & { outcome: JsonObject })[] = []
  for (const run of runner.applicable(test).runs) {
    for (const file of run.setup ?? []) {
      const resource = resourceIn(text(dir, file))
      resources.push(resource)
      if (test.options !== undefined) await store(suite.ctx, resource)
    }
    const outcome = await answer(forRequest(suite.ctx, { resources }), test, { run, body: text(dir, run.resource ?? test.resource) })
    const levels = run.verdictOnly
      ? runner.compareVerdict(run.verdict, outcome)
      : runner.compare(JSON.parse(text(dir, run.expected ?? '')), outcome, run)
    results.push({ ...levels, notes: levels.notes.map((note) => `[${run.mode}] ${note}`), outcome })
  }
  return {
    test,
    verdict: results.every(({ verdict }) => verdict),
    location: results.every(({ location }) => location),
    full: results.every(({ full }) => full),
    notes: results.flatMap(({ notes }) => notes),
    issues: results.flatMap(({ outcome }) => outcome['issue'] ?? []),
  }
}

/** Stores a resource, for tests with options that resolve references. */
async function store({ storage }: OperationContext, resource: JsonObject): Promise<void> {
  const [type, id] = [stringAt(resource, 'resourceType'), stringAt(resource, 'id')]
  if (type !== undefined && id !== undefined) await storage.write([putResource({ type, id, source: resource }, () => [])])
}

async function answer(ctx: OperationContext, test: SuiteTest, { run, body }: { run: SuiteRun; body: string }): Promise<JsonObject> {
  try {
    const parameters = [
      ...parametersFromQuery(run.profile === undefined ? [] : [['profile', run.profile]]),
      ...(validateOperation.header?.parameters(JSON.stringify(test.options ?? {})) ?? []),
    ]
    const response = await validateOperation.run(ctx, {
      type: test.resourceType,
      method: 'POST',
      parameters,
      bodyText: body,
      strict: false,
    })
    return response.resource
  } catch (error) {
    if (!(error instanceof OperationError)) throw error
    return { ...outcomeOf(error, 'x') }
  }
}

function text(dir: string, file: string): string {
  return readFileSync(join(dir, file), 'utf8').replace(/^\uFEFF/, '')
}

function packageResources(dir: string, name: string): readonly JsonObject[] {
  const lines = text(dir, join('packages', `${name.replace(/[^A-Za-z0-9_.-]/g, '_')}.ndjson`)).split('\n')
  return lines.filter((line) => line !== '').map(resourceIn)
}

function resourceIn(json: string): JsonObject {
  const value: unknown = JSON.parse(json)
  if (!isObject(value)) throw new TypeError('A file of the suite is not a resource.')
  return value
}
