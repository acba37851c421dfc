import { isIP } from 'node:net'
import { Command, InvalidArgumentError, Option } from 'commander'
import { isOrigin } from '@fhir-ops/handler'
import { constants, performance, PerformanceObserver, type PerformanceEntry } from 'node:perf_hooks'
import { getHeapSpaceStatistics, getHeapStatistics, setFlagsFromString } from 'node:v8'
import { isObject } from 'fhir-ops/internal/json'
import type { Io } from '../io.js'
import { serve, untilInterrupted, type ServeOptions } from '../serve/service.js'
import {
  addressOption,
  loadOption,
  notBlank,
  portNumber,
  repeated,
  storageOption,
  suppressOption,
  tokenOption,
  wholeNumber,
  wordsOption,
} from './options.js'
import { SAMPLE_PATH } from '../files.js'

/** As `ServeOptions`, except for the option written as `--no-auth`, and those that have no command line option. */
interface ServeCommandOptions extends Omit<ServeOptions, 'open' | 'clientSecret'> {
  readonly auth: boolean
}

/** `fhir-ops serve`. */
export function serveCommand(io: Io): Command {
  const command = new Command('serve')
    .description('Serve FHIR R4 at /fhir/R4 until interrupted. Prints one line `listening on URL` when ready.')
    .option('--host <host>', 'interface to listen on', notBlank, '127.0.0.1')
    .option('--port <port>', 'port to listen on; 0 takes a free one', portNumber, 8080)
    .addOption(addressOption('--base-url', 'public base address, for example that of a proxy (default: the address listened on)'))
    .addOption(storageOption())
    .addOption(loadOption())
    .addOption(wordsOption())
    .addOption(suppressOption())
    .addOption(tokenOption('--dev-token', 'accept this text as a token of a demo user with every scope (loopback only)'))
    .option('--no-auth', 'serve FHIR without authentication (loopback only)')
    .option('--ui', 'serve the playground, a page to try the operations, at /')
    .option(
      '--preload-cql',
      'load the translator of CQL before listening, which otherwise takes place during the first request that has CQL',
    )
    .option('--mcp', 'serve the Model Context Protocol at /mcp')
    .addOption(
      new Option(
        '--validate-writes <checks>',
        'what is checked of a resource before it is stored, or refused with its errors: nothing, the types of FHIR, or all that $validate checks',
      )
        .choices(['none', 'structure', 'full'])
        .default('none'),
    )
    .addOption(corsOption())
    .option(
      '--cors-credentials',
      'let the origins of --cors, given by name, send credentials of the browser, as pages with Medplum clients do',
    )
    .addOption(trustProxyOption())
    .option('--gzip-requests', 'read request bodies in gzip, up to the same limits')
    .option('--bot-timeout <ms>', 'time limit of a bot', wholeNumber(1))
    .option('--max-expansion <n>', 'maximum number of codes in an expansion without count', wholeNumber(1))
    .addOption(new Option('--log <what>', 'JSON lines on standard error').choices(['failures', 'all']).default('failures'))
    .option('--audit', 'store audit events as AuditEvent resources')
  return withOtherServers(command)
    .addHelpText('after', `\nExample:\n  fhir-ops serve --storage sqlite:content.db --load ${SAMPLE_PATH} --dev-token secret`)
    .action(async ({ auth, ...options }: ServeCommandOptions) => {
      keepHeapModest()
      const server = await serve({ ...options, open: !auth, clientSecret: process.env['FHIR_OPS_CLIENT_SECRET'] }, io)
      await untilInterrupted(server, io, () => io.out(`listening on ${server.url}`))
    })
}

/** Adds the options that name an OpenID provider, or a FHIR server to delegate to. */
function withOtherServers(command: Command): Command {
  return command
    .addOption(addressOption('--issuer', 'accept access tokens of this OpenID provider'))
    .option('--audience <uri>', 'required audience (aud) of signed tokens of the issuer')
    .option(
      '--client-id <id>',
      'client id of this service at the issuer: accepts its logout tokens; with $FHIR_OPS_CLIENT_SECRET, introspects opaque tokens',
    )
    .option('--dpop', 'accept tokens of the issuer that are bound to a key, with a DPoP proof')
    .option(
      '--delegate <operation>',
      'operation, such as expand, that is sent to another FHIR server when its definitions are not found here; repeatable',
      repeated,
    )
    .addOption(addressOption('--delegate-to', 'base URL of the other server'))
    .option('--remote <canonical>', 'code system or canonical that always goes to the other server; repeatable', repeated)
    .option('--forward-token', "send the caller's token to the other server and to that of --storage http:URL")
}

/** `--cors`, repeatable. */
function corsOption(): Option {
  return new Option(
    '--cors <origin>',
    'let pages of this origin (https://app.example), or of all (*), call the server from a browser; repeatable',
  ).argParser<readonly string[]>((origin, before: readonly string[] | undefined) => {
    if (origin === '*' || isOrigin(origin)) return repeated(origin, before)
    throw new InvalidArgumentError('It must be an origin, such as https://app.example or http://localhost:5173, without a path; or *.')
  })
}

/** `--trust-proxy`, repeatable. */
function trustProxyOption(): Option {
  return new Option(
    '--trust-proxy <network>',
    "address or network (10.0.0.0/8) of a proxy whose X-Forwarded-For names the caller's address; repeatable",
  ).argParser<readonly string[]>((network, before: readonly string[] | undefined) => {
    if (isNetwork(network)) return repeated(network, before)
    throw new InvalidArgumentError('It must be an IP address or a network, such as 10.0.0.0/8 or fd00::/8.')
  })
}

function isNetwork(text: string): boolean {
  const [address = '', length = '0', ...more] = text.split('/')
  const most = { 0: -1, 4: 32, 6: 128 }[isIP(address)] ?? -1
  return more.length === 0 && /^\d{1,3}$/.test(length) && Number(length) <= most
}

const MIB = 1024 * 1024

/**
 * Size of both halves of V8's young generation, whose objects live for a request. By default, V8 would use 128 MiB on a machine with enough memory. With
 * a quarter of that, translations, pages, searches and validations take the same processor time; with an eighth, a fifth more.
 */
const MOST_YOUNG = 32 * MIB
/**
 * How much the heap may grow before a full collection: by half of its size, or by this amount if it is small. With 40 MiB, validating Bundles cost a third
 * more processor time, without using less memory under load.
 */
const HEADROOM = 64 * MIB
const LEAST_PERCENT = 50
const MOST_PERCENT = 100

/** With so little room, the thread itself collects young objects in less processor time than with helper threads, which have to be woken. */
const NO_HELPERS = '--no-parallel-scavenge'

const LOOK_MS = 1_000
/** Utilization during a second below which the process counts as waiting for requests. */
const AT_REST = 0.05
/** Seconds at rest before memory is saved. Saving takes two collections, and the next requests need the memory again: it is never done under load. */
const QUIET_SECONDS = 4
/** Seconds from a collection until V8 checks again whether to save memory. */
const REDUCER_SECONDS = 2

/**
 * Limits the memory of a server to about what it uses, until the process ends. By default, V8 doubles the used memory before it collects, keeps what it
 * once had, and returns nothing while a process waits for requests, because it assumes that allocations continue at the rate of the last busy moment. The
 * flags are read whenever V8 decides, and apply to all threads.
 */
function keepHeapModest(): void {
  setFlagsFromString(NO_HELPERS)
  boundYoung()
  boundOld()
  const collections = new PerformanceObserver((entries) => {
    boundYoung()
    if (entries.getEntries().some(isOfEverything)) boundOld()
  })
  collections.observe({ entryTypes: ['gc'] })
  setFlagsFromString(`--gc-memory-reducer-start-delay-ms=${REDUCER_SECONDS * 1_000}`)
  setInterval(savingAtRest(), LOOK_MS).unref()
}

/** Returns a check, to be called every second, that switches V8's memory saving on and off. */
function savingAtRest(): () => void {
  let before = performance.eventLoopUtilization()
  let quiet = 0
  return () => {
    const now = performance.eventLoopUtilization()
    const { utilization } = performance.eventLoopUtilization(now, before)
    before = now
    quiet = utilization < AT_REST ? quiet + 1 : 0
    saveMemory(quiet >= QUIET_SECONDS)
  }
}

function isOfEverything(entry: PerformanceEntry): boolean {
  return 'detail' in entry && isObject(entry.detail) && entry.detail['kind'] === constants.NODE_PERFORMANCE_GC_MAJOR
}

/** Called after each collection, because each may double the size of the young generation. */
function boundYoung(): void {
  const young = getHeapSpaceStatistics().find(({ space_name: name }) => name === 'new_space')
  setFlagsFromString(`--semi-space-growth-factor=${(young?.space_size ?? 0) < MOST_YOUNG ? 2 : 1}`)
}

/** Called after a full collection; sets the limit for the next one. */
function boundOld(): void {
  const percent = Math.min(MOST_PERCENT, Math.max(LEAST_PERCENT, (100 * HEADROOM) / getHeapStatistics().used_heap_size))
  setFlagsFromString(`--heap-growing-percent=${Math.round(percent)}`)
}

/** Switches memory saving. V8 then collects some seconds after its last collection, in small steps, and returns unused memory. */
function saveMemory(isWanted: boolean): void {
  setFlagsFromString(isWanted ? '--optimize-for-size' : '--no-optimize-for-size')
}
