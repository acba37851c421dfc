import { createServer } from 'node:http'
import { configureServer, toNodeListener } from '@fhir-ops/handler/node'
import { createService } from '@fhir-ops-examples/service'

const port = Number(process.env['PORT'] ?? 8080)
const url = `http://127.0.0.1:${port}`
const { handler, token } = await createService(url)

const server = createServer(toNodeListener(handler))
configureServer(server)
server.listen(port, '127.0.0.1', () => console.log(`listening on ${url} with token ${token}`))
