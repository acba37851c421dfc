import { describe, test } from 'vitest'
import { rounds, SEED } from '../../../../test/effort.js'
import { fuzz, type FuzzTarget } from './fuzz.js'
import { csv, ecl, fhirPath, hl7v2, json, rf2, tar, ucum, zip } from './parser-targets.js'
import { requestTarget } from './request-target.js'

const INPUTS = rounds({ quick: 10_000, all: 50_000 })

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
