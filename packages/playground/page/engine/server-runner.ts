import { answerOf, type Answer, type Call, type Runner } from './call.js'

/** Sends calls to the server that the page comes from. */
export function serverRunner(base: string, token: () => string): Runner {
  return {
    place: new URL(base, location.href).host,
    async run(call: Call, signal: AbortSignal): Promise<Answer> {
      const started = performance.now()
      const response = await fetch(base + call.path, { ...requestInit(call, token()), signal })
      const text = await response.text()
      return answerOf({
        status: response.status,
        type: response.headers.get('content-type') ?? '',
        text,
        ms: performance.now() - started,
      })
    },
  }
}

function requestInit({ method, body }: Call, token: string): RequestInit {
  const headers = new Headers()
  if (token !== '') headers.set('Authorization', `Bearer ${token}`)
  if (body === undefined) return { method, headers, cache: 'no-store' }
  headers.set('Content-Type', body.type)
  return { method, headers, body: body.text, cache: 'no-store' }
}
