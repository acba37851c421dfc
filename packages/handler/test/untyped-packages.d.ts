// The parts that the tests call of packages that ship no types.

declare module 'oidc-provider' {
  import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'

  export default class Provider {
    constructor(issuer: string, configuration: object)
    callback(): RequestListener
    use(middleware: (context: { readonly path: string; body: object }, next: () => Promise<void>) => Promise<void>): this
    interactionFinished(request: IncomingMessage, response: ServerResponse, result: object): Promise<void>
    readonly Client: { find(id: string): Promise<Client | undefined> }
    readonly AccessToken: new (properties: object) => AccessToken
    readonly RefreshToken: new (properties: object) => { save(): Promise<string> }
  }

  interface Client {
    backchannelLogout(sub: string, sid: string): Promise<void>
  }

  interface AccessToken {
    /** Thumbprint of the key that the token is bound to. */
    jkt?: string
    save(): Promise<string>
  }
}

declare module 'express' {
  import type { RequestListener } from 'node:http'

  interface Router extends RequestListener {
    use(handler: RequestListener): void
    use(path: string | readonly string[], handler: RequestListener): void
  }
  interface Express {
    (): Router
    Router(): Router
    json(): RequestListener
  }
  const express: Express
  export default express
}

declare module 'koa' {
  import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'

  interface Context {
    readonly req: IncomingMessage
    readonly res: ServerResponse
    readonly path: string
    readonly originalUrl: string
    respond?: boolean
  }
  export default class Koa {
    use(middleware: (context: Context, next: () => Promise<void>) => Promise<void>): this
    callback(): RequestListener
  }
}
