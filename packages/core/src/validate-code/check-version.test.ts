import { describe, expect, it } from 'vitest'
import { call, codeSystem, contextOf, cs, valueSet, vs } from '../../test/terminology-content.js'
import { answerOf } from '../../test/code-validation.js'
import { type JsonObject } from '../json/index.js'
import { valueSetValidateCodeOperation } from '../operations/index.js'

describe('a code of a system of which a value set takes several versions', () => {
  const version = (number: string, concept: readonly JsonObject[]): JsonObject => ({ ...codeSystem('tool', concept), version: number })
  const include = (number?: string, ...codes: readonly string[]): JsonObject => ({
    system: cs('tool'),
    ...(number !== undefined && { version: number }),
    ...(codes.length > 0 && { concept: codes.map((code) => ({ code })) }),
  })
  const tools = contextOf(
    version('1.0.0', [{ code: 'saw', display: 'Saw' }, { code: 'axe', display: 'Hatchet' }, { code: 'old' }]),
    version('2.0.0', [{ code: 'saw', display: 'Saw' }, { code: 'axe', display: 'Axe' }, { code: 'new' }]),
    valueSet('newest', { include: [include('1.0.0'), include()] }),
    valueSet('lists', { include: [include('1.0.0', 'saw', 'old'), include('2.0.0', 'axe')] }),
    valueSet('less', { include: [include('1.0.0'), include('2.0.0')], exclude: [include('2.0.0', 'axe')] }),
  )

  it.each([
    ['is of the newest version without its own', 'newest', { code: 'axe' }, [true, '2.0.0']],
    ['is of its own version', 'newest', { code: 'axe', version: '1.0.0' }, [true, '1.0.0']],
    ['is of its own version, which an include without version comes to', 'newest', { code: 'axe', version: '2.0.0' }, [true, '2.0.0']],
    ['is of the version with its display', 'newest', { code: 'axe', display: 'Hatchet' }, [true, '1.0.0']],
    ['is of the version that has it', 'newest', { code: 'old' }, [true, '1.0.0']],
    ['is not in a version that has not got it', 'newest', { code: 'new', version: '1.0.0' }, [false, '1.0.0']],
    ['is of the version in which it is listed', 'lists', { code: 'saw' }, [true, '1.0.0']],
    ['has the wrong display for the version in which it is listed', 'lists', { code: 'axe', display: 'Hatchet' }, [false, '2.0.0']],
    ['is of the version in which it is not excluded', 'less', { code: 'axe' }, [true, '1.0.0']],
  ])('%s', async (_, set, value, expected) => {
    const question = [
      { name: 'url', valueUri: vs(set) },
      { name: 'coding', valueCoding: { system: cs('tool'), ...value } },
    ]
    const { parameter } = answerOf(await call(valueSetValidateCodeOperation, tools, question))
    expect(['result', 'version'].map(parameter)).toEqual(expected)
  })
})
