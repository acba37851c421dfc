import { finished } from 'node:stream/promises'
import { openBotSandbox } from '@fhir-ops/bot-sandbox'
import { createHandler } from '@fhir-ops/handler'
import { Command } from 'commander'
import { createBots } from 'fhir-ops/execute'
import { OperationError } from 'fhir-ops/errors'
import { createSessions } from 'fhir-ops/sessions'
import { openEngine } from '../engine.js'
import type { Io } from '../io.js'
import { MCP_PATH } from '../serve/mcp-listener.js'
import { serve, untilInterrupted } from '../serve/service.js'
import { checkInputIsFree, loadOption, portNumber, storageOption, tokenOption } from './options.js'
import { SAMPLE_PATH } from '../files.js'

interface McpOptions {
  readonly storage: string
  readonly load: readonly string[]
  readonly port?: number
  readonly devToken?: string
}

/** `fhir-ops mcp`. */
export function mcpCommand(io: Io): Command {
  return new Command('mcp')
    .description('Serve the Model Context Protocol on standard input and output: tools for the operations, resources, prompts.')
    .option('--port <port>', 'serve it over HTTP instead, at /mcp next to FHIR, with access tokens; 0 takes a free port', portNumber)
    .addOption(tokenOption('--dev-token', 'with --port: accept this text as a token of a demo user with every scope'))
    .addOption(storageOption())
    .addOption(loadOption())
    .addHelpText('after', `\nExample:\n  fhir-ops mcp --storage sqlite:content.db --load ${SAMPLE_PATH}`)
    .action((options: McpOptions) =>
      options.port === undefined ? serveStdio(options, io) : serveHttp({ ...options, port: options.port }, io),
    )
}

/** Serves MCP on standard input and output. Whoever started the process may do everything that it can. */
async function serveStdio(options: McpOptions, io: Io): Promise<void> {
  if (options.devToken !== undefined)
    throw new OperationError('parameter-value', '--dev-token needs --port: there are no tokens on standard input and output.')
  checkInputIsFree(options.load, 'the messages of the client')
  const [{ botSchemas }, { createMcpServer }, { StdioServerTransport }] = await Promise.all([
    import('@fhir-ops/bot-sandbox/schemas'),
    import('@fhir-ops/mcp'),
    import('@modelcontextprotocol/sdk/server/stdio.js'),
  ])
  const runtime = openBotSandbox()
  const engine = await openEngine(options, io)
  const baseUrl = 'http://localhost'
  const { ctx: context, indexer, sessionStore } = engine
  const handler = createHandler({
    context,
    indexer,
    baseUrl,
    sessions: createSessions({ store: sessionStore }),
    bots: createBots({ runtime, schemas: botSchemas(), onLog: ({ level, text }) => io.err(`${level}: ${text}`) }),
    auth: 'off',
    defaultPolicy: 'deny',
  })
  const server = createMcpServer({ handler, baseUrl, context, onError: ({ stack }) => io.err(`error: ${stack}`) })
  try {
    await server.connect(new StdioServerTransport())
    await finished(process.stdin, { writable: false })
  } finally {
    await server.close()
    await handler.close()
    await runtime.close()
    await engine.close()
  }
}

async function serveHttp({ port, ...options }: McpOptions & { readonly port: number }, io: Io): Promise<void> {
  const server = await serve({ ...options, host: '127.0.0.1', port, mcp: true }, io)
  await untilInterrupted(server, io, () => io.out(`listening on ${server.url}${MCP_PATH}`))
}
