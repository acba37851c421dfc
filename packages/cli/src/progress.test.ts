import { stripVTControlCharacters } from 'node:util'
import { expect, test, vi } from 'vitest'
import { progressOn, withProgress, type ReportProgress } from './progress.js'

function told({ isColoured = false, draws = true } = {}) {
  const lines: string[] = []
  let time = 0
  const draw = (line: string): void => void lines.push(line)
  const err = (line: string): void => void lines.push(line)
  const io = { out: () => {}, err, stdin: async () => '', isColoured, now: () => time, ...(draws && { draw }) }
  const progress = progressOn(io)
  const after = (ms: number, done: number, share?: number): void => {
    time += ms
    progress.show({ doing: 'loading', done, thing: 'resource', share })
  }
  return { lines, after, progress }
}

test('what takes less than a second shows nothing', () => {
  const { lines, after } = told()
  after(500, 1, 0.2)
  after(499, 2, 0.9)
  expect(lines).toEqual([])
})

test('a bar is drawn in its place, ten times a second at most, and taken away', () => {
  const { lines, after, progress } = told()
  after(1_000, 500, 0.25)
  after(50, 600, 0.26)
  after(950, 1_000, 0.5)
  progress.end()
  expect(lines).toEqual([
    '━━━━━━────────────────── loading: 500 resources, 25 %, 500/s, about 3 seconds left',
    '━━━━━━━━━━━━──────────── loading: 1000 resources, 50 %, 500/s, about 2 seconds left',
    '',
  ])
})

test('it has colours where they are shown', () => {
  const { lines, after } = told({ isColoured: true })
  after(1_000, 500, 0.25)
  expect(lines[0]).toContain('\u001B[36m━')
  expect(stripVTControlCharacters(lines[0] ?? '')).toMatch(/^━{6}─{18} loading/)
})

test('where no terminal is, lines are written, every five seconds', () => {
  const { lines, after, progress } = told({ draws: false })
  after(1_000, 10)
  after(4_000, 20)
  after(1_000, 30)
  progress.end()
  expect(lines).toEqual(['… loading: 10 resources, 10/s', '… loading: 30 resources, 5/s'])
})

test('of work that counts nothing the time is told on a terminal, what it says once it does, and nothing after its end', async () => {
  vi.useFakeTimers()
  const lines: string[] = []
  const io = { out: () => {}, err: () => {}, stdin: async () => '', draw: (line: string) => void lines.push(line) }
  let report: ReportProgress = () => {}
  const { promise, resolve } = Promise.withResolvers<string>()
  const work = withProgress(io, 'expand', (told) => {
    report = told
    return promise
  })
  await vi.advanceTimersByTimeAsync(900)
  expect(lines).toEqual([])
  await vi.advanceTimersByTimeAsync(200)
  report({ note: '200 rows, 50 %', share: 0.5 })
  await vi.advanceTimersByTimeAsync(200)
  resolve('done')
  expect(await work).toBe('done')
  await vi.advanceTimersByTimeAsync(5_000)
  vi.useRealTimers()
  expect([lines[0], ...lines.slice(-2)]).toEqual([
    `${'─'.repeat(24)} expand: 1 second`,
    `${'━'.repeat(12)}${'─'.repeat(12)} expand: 200 rows, 50 %`,
    '',
  ])
})

test('where no terminal is, nothing is written of work that counts nothing', async () => {
  vi.useFakeTimers()
  const said: string[] = []
  const io = { out: () => {}, err: (line: string) => void said.push(line), stdin: async () => '' }
  const work = withProgress(io, 'expand', () => new Promise<void>((resolve) => setTimeout(resolve, 60_000)))
  await vi.advanceTimersByTimeAsync(60_000)
  await work
  vi.useRealTimers()
  expect(said).toEqual([])
})
