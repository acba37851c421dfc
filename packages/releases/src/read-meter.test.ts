import { expect, test } from 'vitest'
import { readMeter, type ReleaseFile } from './release-file.js'

function fileOf(...pieces: readonly number[]): ReleaseFile {
  return {
    name: 'a file',
    size: pieces.reduce((sum, length) => sum + length, 0),
    async *bytes() {
      for (const length of pieces) yield new Uint8Array(length)
    },
    mark: async () => '',
  }
}

test('a meter tells which part of all files was read, and how long the rest will take at that speed', async () => {
  let now = 1_000
  const files = [fileOf(10, 20), fileOf(70)]
  const meter = readMeter(files, () => now)
  const said = [meter.words()]
  for (const file of files) {
    for await (const piece of meter.metered(file).bytes()) {
      now += piece.length * 100
      said.push(meter.words())
    }
  }
  expect(said).toEqual(['0 %', '10 %, about 9 seconds left', '30 %, about 7 seconds left', '100 %, about 0 seconds left'])
})
