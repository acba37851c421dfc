import express from 'express'
import { configureServer, toNodeListener } from '@fhir-ops/handler/node'
import { createService } from '@fhir-ops-examples/service'

const port = Number(process.env['PORT'] ?? 8080)
const url = `http://127.0.0.1:${port}`
const { handler, token } = await createService(url)

const app = express()
app.get('/', (_request, response) => void response.send('the host’s own page'))
// Before any body parser: the handler reads bodies itself, after it has seen the token.
app.use(['/fhir', '/oauth2', '/auth'], toNodeListener(handler))
const server = app.listen(port, '127.0.0.1', () => console.log(`listening on ${url} with token ${token}`))
configureServer(server)
