import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { setImmediate } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { createOutbox } from './write-answer.js'

function responses(count: number): readonly ServerResponse[] {
  return Array.from({ length: count }, () => new ServerResponse(new IncomingMessage(new Socket())).writeHead(204))
}

const endedOf = (all: readonly ServerResponse[]): readonly boolean[] => all.map(({ writableEnded }) => writableEnded)

/** Holds the thread, as the work of a request does. */
function work(ms: number): void {
  const end = performance.now() + ms
  while (performance.now() < end);
}

test('responses wait until what is ready has been read, and no longer', async () => {
  const [outbox, all] = [createOutbox(), responses(2)]
  for (const response of all) outbox.end(response, undefined)
  expect(endedOf(all)).toEqual([false, false])
  await setImmediate()
  expect(endedOf(all)).toEqual([true, true])
})

test('many do not wait for each other', () => {
  const [outbox, all] = [createOutbox(), responses(20)]
  for (const response of all) outbox.end(response, undefined)
  expect(endedOf(all)).toEqual(Array.from({ length: 20 }, (_, at) => at < 16))
})

test('what waits does not wait for the work of a request that comes later', () => {
  const [outbox, all] = [createOutbox(), responses(1)]
  for (const response of all) outbox.end(response, undefined)
  work(2)
  outbox.requestArrives()
  expect(endedOf(all)).toEqual([true])
})

test('a response that cannot be ended is cut off, and keeps back no other', async () => {
  const [outbox, [broken, last]] = [createOutbox(), responses(2)]
  Object.assign(broken ?? {}, {
    end() {
      throw new Error('of a middleware')
    },
  })
  for (const response of [broken, last]) if (response !== undefined) outbox.end(response, undefined)
  await setImmediate()
  expect([broken?.destroyed, last?.writableEnded]).toEqual([true, true])
})

test('a response that was ended or cut off meanwhile is left alone', async () => {
  const [outbox, [ended, gone, last]] = [createOutbox(), responses(3)]
  for (const response of [ended, gone, last]) if (response !== undefined) outbox.end(response, undefined)
  ended?.end()
  gone?.destroy()
  await setImmediate()
  expect(last?.writableEnded).toBe(true)
})

test('of texts that are made while they are sent, sockets are read between a few pieces of all', async () => {
  const outbox = createOutbox()
  let made = 0
  const pieces = {
    *[Symbol.iterator]() {
      for (let at = 0; at < 5; at++) yield String((made += 1) && at)
    },
  }
  const read = async (): Promise<string> => {
    const all: string[] = []
    for await (const piece of outbox.inTurns(pieces)) all.push(piece)
    return all.join('')
  }
  const readers = Promise.all(Array.from({ length: 20 }, () => read()))
  let most = 0
  for (let before = made; made < 100; before = made) {
    await setImmediate()
    most = Math.max(most, made - before)
  }
  expect(await readers).toEqual(Array.from({ length: 20 }, () => '01234'))
  expect(most).toBeLessThanOrEqual(4)
})
