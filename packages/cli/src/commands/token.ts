import { Command, InvalidArgumentError } from 'commander'
import { OperationError } from 'fhir-ops/errors'
import { scopeProblem } from 'fhir-ops/internal/sessions'
import { createSessions, type NewSession } from 'fhir-ops/sessions'
import { isResourceId } from 'fhir-ops/storage'
import { counted, table, type Io } from '../io.js'
import { withEngine, type Engine, type EngineOptions } from '../engine.js'
import { postgresUrl } from '../storage.js'
import { DEMO_USER, FULL_SCOPES } from '../serve/identity.js'
import { notBlank, repeated, wholeNumber } from './options.js'

interface CreateOptions {
  readonly storage: string
  readonly user: string
  readonly name?: string
  readonly email?: string
  readonly scope?: readonly string[]
  readonly project?: string
  readonly patient?: string
  readonly ttl: number
  readonly json?: true
}

interface ListOptions {
  readonly storage: string
  readonly user: string
  readonly json?: true
}

const DAY_SECONDS = 86_400

/** `fhir-ops token`, with its subcommands. */
export function tokenCommand(io: Io): Command {
  return new Command('token')
    .description('Create, list and revoke access tokens, also while a server uses the same storage.')
    .addCommand(createCommand(io))
    .addCommand(listCommand(io))
    .addCommand(revokeCommand(io))
    .addHelpText(
      'after',
      '\nExample:\n  fhir-ops token create --storage sqlite:content.db --user nurse-1 --scope openid --scope "system/*.rs"',
    )
}

function createCommand(io: Io): Command {
  return new Command('create')
    .description('Print a new token. It is shown once and cannot be read again.')
    .requiredOption('--storage <storage>', 'sqlite:FILE or postgres:URL')
    .option('--user <sub>', 'subject identifier; without --name and --email, only demo has claims about the person', subject, 'demo')
    .option('--name <name>', 'full name of the user, for the user-information endpoint', notBlank)
    .option('--email <address>', 'e-mail address of the user', notBlank)
    .option('--scope <scope>', `scope, repeatable (default: ${FULL_SCOPES.join(' ')})`, scopes)
    .option('--project <project>', 'project that the token is bound to', notBlank)
    .option('--patient <id>', 'patient that scopes of the form patient/... apply to', patientId)
    .option('--ttl <seconds>', 'life time', wholeNumber(1), DAY_SECONDS)
    .option('--json', 'print {token, loginId, expiresAt}')
    .addHelpText('after', '\nExample:\n  fhir-ops token create --storage sqlite:content.db --json')
    .action((options: CreateOptions) => withStored(options, io, (engine) => create(engine, options, io)))
}

function subject(text: string): string {
  if (!/^[!-~]{1,255}$/.test(text)) throw new InvalidArgumentError('It must be 1 to 255 visible ASCII characters.')
  return text
}

function patientId(text: string): string {
  if (!isResourceId(text)) throw new InvalidArgumentError('It must be the id of a Patient.')
  return text
}

function listCommand(io: Io): Command {
  return new Command('list')
    .description('List the active sessions of a user, newest first.')
    .requiredOption('--storage <storage>', 'sqlite:FILE or postgres:URL')
    .option('--user <sub>', 'subject identifier', subject, 'demo')
    .option('--json', 'print an array')
    .addHelpText('after', '\nExample:\n  fhir-ops token list --storage sqlite:content.db --user nurse-1')
    .action((options: ListOptions) => withStored(options, io, (engine) => list(engine, options, io)))
}

function revokeCommand(io: Io): Command {
  return new Command('revoke')
    .description('End a session immediately, in every process on the same storage.')
    .argument('<loginId>', 'login id, as `token list` prints it')
    .requiredOption('--storage <storage>', 'sqlite:FILE or postgres:URL')
    .addHelpText('after', '\nExample:\n  fhir-ops token revoke 6f1c2a0e-3b1d-4c55-9f2e-8d7a90b1c2d3 --storage sqlite:content.db')
    .action((loginId: string, options: { readonly storage: string }) => withStored(options, io, (engine) => revoke(engine, loginId, io)))
}

async function create(engine: Engine, options: CreateOptions, io: Io): Promise<void> {
  const issued = await createSessions({ store: engine.sessionStore }).create({
    user: await userOf(engine, options),
    scopes: options.scope ?? FULL_SCOPES,
    userAgent: 'fhir-ops token',
    remoteHost: '127.0.0.1',
    ttl: options.ttl,
    ...(options.project !== undefined && { project: options.project }),
    ...(options.patient !== undefined && { patient: options.patient }),
  })
  if (options.json) io.out(JSON.stringify({ token: issued.token, loginId: issued.loginId, expiresAt: issued.expiresAt }))
  else io.out(issued.token)
}

/** Returns the user. No claims are invented: only the demo user, who is fictitious, has claims that are not in the command line. */
async function userOf(engine: Engine, { user: sub, name, email }: CreateOptions): Promise<NewSession['user']> {
  const known = await engine.sessionStore.user(sub)
  if (known !== undefined && name === undefined && email === undefined) return sub
  const claims = known?.claims ?? (sub === DEMO_USER.sub ? DEMO_USER : {})
  return { ...claims, ...(name !== undefined && { name }), ...(email !== undefined && { email }), sub }
}

async function list(engine: Engine, options: ListOptions, io: Io): Promise<void> {
  const sessions = await createSessions({ store: engine.sessionStore }).list(options.user)
  const rows = sessions.map(({ loginId, scopes, createdAt, expiresAt }) => ({
    loginId,
    scopes: scopes.join(' '),
    createdAt: new Date(createdAt).toISOString(),
    expiresAt: new Date(expiresAt).toISOString(),
  }))
  if (options.json) return io.out(JSON.stringify(rows))
  for (const line of table(rows.map((row) => [row.loginId, row.createdAt, row.expiresAt, row.scopes]))) io.out(line)
  io.err(`${counted(rows.length, 'active session')} of ${options.user}`)
}

async function revoke(engine: Engine, loginId: string, io: Io): Promise<void> {
  const ended = await createSessions({ store: engine.sessionStore }).delete(loginId)
  if (!ended) throw new OperationError('not-found', `There is no session ${loginId}.`)
  io.err('revoked')
}

async function withStored(options: EngineOptions, io: Io, work: (engine: Engine) => Promise<void>): Promise<void> {
  const { storage } = options
  if (!storage.startsWith('sqlite:') && postgresUrl(storage) === undefined)
    throw new OperationError('parameter-value', 'Tokens need a persistent storage: --storage sqlite:FILE or postgres:URL.')
  await withEngine(options, io, work)
}

/**
 * Collects scopes and checks that they exist: a misspelt one would be stored but grant nothing.
 *
 * @see https://hl7.org/fhir/smart-app-launch/scopes-and-launch-context.html
 */
function scopes(value: string, before: readonly string[] | undefined): readonly string[] {
  if (!/^[!#-[\]-~]+$/.test(value))
    throw new InvalidArgumentError('It must have no blanks, quotes or backslashes: repeat --scope for each scope.')
  const problem = scopeProblem(value)
  if (problem !== undefined) throw new InvalidArgumentError(`${problem.replace(/^t/, 'T')} ${SCOPES}`)
  return repeated(value, before)
}

const SCOPES = 'Examples of scopes: openid, system/*.cruds, user/Observation.rs, patient/*.rs.'
