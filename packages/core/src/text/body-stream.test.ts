import { describe, expect, it } from 'vitest'
import { bodyStream, chunksOf } from './utf8.js'

const request = (init?: RequestInit): Request => new Request('http://service.example/', init)

describe('the chunks of a stream', () => {
  it('are read without iterating over it, which WebKit cannot', async () => {
    const stream = new Response('abc').body
    Object.defineProperty(stream, Symbol.asyncIterator, { value: undefined })
    expect(await textOf(stream)).toBe('abc')
    expect(await textOf(null)).toBe('')
  })

  it('are no longer sent when their reader stops', async () => {
    let isCancelled = false
    const stream = new ReadableStream<Uint8Array>({
      pull: (controller) => controller.enqueue(new Uint8Array(1)),
      cancel: () => void (isCancelled = true),
    })
    for await (const chunk of chunksOf(stream)) if (chunk.length > 0) break
    expect(isCancelled).toBe(true)
  })
})

describe('the body of a request', () => {
  it('is its stream', async () => {
    expect(await textOf(await bodyStream(request({ method: 'POST', body: 'abc' })))).toBe('abc')
    expect(await bodyStream(request())).toBeNull()
  })

  it('is read where requests have no stream, as in Firefox', async () => {
    expect(await textOf(await bodyStream(withoutStream(request({ method: 'POST', body: 'abc' }))))).toBe('abc')
    expect(await bodyStream(withoutStream(request()))).toBeNull()
  })
})

/** A request whose class has no `body`. */
function withoutStream(given: Request): Request {
  return new Proxy(given, {
    has: (target, name) => name !== 'body' && name in target,
    get: (target, name) => (name === 'arrayBuffer' ? () => target.arrayBuffer() : undefined),
  })
}

async function textOf(stream: ReadableStream<Uint8Array> | null): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  for await (const chunk of chunksOf(stream)) text += decoder.decode(chunk, { stream: true })
  return text
}
