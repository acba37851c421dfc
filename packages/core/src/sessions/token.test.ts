import { createHash } from 'node:crypto'
import { expect, it } from 'vitest'
import { plainSha256, sha256 } from './state.js'

it.each(['', 'fo_x', 'ä€😀', 'a'.repeat(8_192)])(
  'the digest of a token is that of its UTF-8 bytes, with and without the help of the runtime',
  async (text) => {
    const digest = createHash('sha256').update(text).digest('hex')
    expect([sha256(text), await plainSha256(text)]).toEqual([digest, digest])
  },
)
