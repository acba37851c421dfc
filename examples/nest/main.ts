import 'reflect-metadata'
import { Controller, Get, Module } from '@nestjs/common'
import { NestFactory } from '@nestjs/core'
import { configureServer, toNodeListener } from '@fhir-ops/handler/node'
import { createService } from '@fhir-ops-examples/service'

const port = Number(process.env['PORT'] ?? 8080)
const url = `http://127.0.0.1:${port}`
const { handler, token } = await createService(url)

class Pages {
  page() {
    return 'the host’s own page'
  }
}
class App {}
// What `@Controller()`, `@Get()` and `@Module()` do: Node strips types, and runs no decorators.
Get()(Pages.prototype, 'page', Object.getOwnPropertyDescriptor(Pages.prototype, 'page') ?? {})
Controller()(Pages)
Module({ controllers: [Pages] })(App)

const app = await NestFactory.create(App, { logger: false })
// Before Nest's own body parsers, which it adds when it starts to listen.
app.use(['/fhir', '/oauth2', '/auth'], toNodeListener(handler))
await app.listen(port, '127.0.0.1')
configureServer(app.getHttpServer())
console.log(`listening on ${url} with token ${token}`)
