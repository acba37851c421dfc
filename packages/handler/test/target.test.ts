import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { rounds } from '../../../test/effort.js'
import { parseTarget } from '../src/http/target.js'

const LIMITS = { urlBytes: 8_192, queryParameters: 100 }

/** What a target is, as the parser of URLs of the platform says. */
function bySpecification(target: string): unknown {
  const { pathname, search } = new URL(`http://localhost${target}`)
  const path = pathname.replace(/\/$/, '').slice(1)
  return { segments: path === '' ? [] : path.split('/').map(decodeURIComponent), rawQuery: search.slice(1) }
}

describe('a target', () => {
  it('is normalised as the URL standard says, whether or not it takes the short way', () => {
    const unit = fc.constantFrom(...Array.from('aB1/.?=&+:,;|!*()@$~-_\'"<>{}^`\\ '), '%2e', '%41', '..', './')
    fc.assert(
      fc.property(fc.string({ unit, maxLength: 12 }), (rest) => {
        const { segments, rawQuery } = parseTarget(`/${rest}`, LIMITS)
        expect({ segments, rawQuery }).toEqual(bySpecification(`/${rest}`))
      }),
      { numRuns: rounds({ quick: 200, all: 2_000 }) },
    )
  })
})
