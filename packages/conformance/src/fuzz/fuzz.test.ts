import { describe, expect, test } from 'vitest'
import { rounds, SEED } from '../../../../test/effort.js'
import { fuzz, type FuzzTarget } from './fuzz.js'
import { csv, ecl, fhirPath, hl7v2, json, rf2, tar, ucum, zip } from './parser-targets.js'
import { requestTarget } from './request-target.js'

/** What is left behind shows only in long runs, those of `npm run test:all`. */
const INPUTS = rounds({ quick: 1_000, all: 50_000 })

describe(`${INPUTS} generated inputs (seed ${SEED}) are taken or refused as foreseen, quickly, and leave nothing behind`, () => {
  const check = <T>(target: FuzzTarget<T>): void => test(target.name, () => fuzz(target, { rounds: INPUTS, seed: SEED }))
  check(ecl)
  check(fhirPath)
  check(hl7v2)
  check(json)
  check(ucum)
  check(csv)
  check(rf2)
  check(tar)
  check(zip)
  check(requestTarget())
})

test('what is wrong with an input is reported with the input made simple, and how to get it again', async () => {
  const take = (input: string): void => {
    if (input.includes('<') && input.includes('!')) throw new TypeError('not foreseen')
  }
  await expect(fuzz({ ...ecl, take }, { rounds: 1_000, seed: 1 })).rejects.toThrow(
    /^ECL: seed 1, input \d+: "(<!|!<)" threw TypeError: not foreseen/,
  )
})
