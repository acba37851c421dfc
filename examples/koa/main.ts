import Koa from 'koa'
import { configureServer, toKoaMiddleware } from '@fhir-ops/handler/node'
import { createService } from '@fhir-ops-examples/service'

const port = Number(process.env['PORT'] ?? 8080)
const url = `http://127.0.0.1:${port}`
const { handler, token } = await createService(url)

const app = new Koa()
app.use(async (ctx, next) => {
  if (ctx.path === '/') ctx.body = 'the host’s own page'
  else await next()
})
app.use(toKoaMiddleware(handler))
const server = app.listen(port, '127.0.0.1', () => console.log(`listening on ${url} with token ${token}`))
configureServer(server)
