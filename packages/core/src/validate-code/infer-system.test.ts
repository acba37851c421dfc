import { describe, expect, it } from 'vitest'
import { cs } from '../../test/terminology-content.js'
import { inSet, type Answer } from '../../test/code-validation.js'

describe('a code without system', () => {
  const inferred = (set: string, code: string): Promise<Answer> =>
    inSet(set, { name: 'code', valueCode: code }, { name: 'inferSystem', valueBoolean: true })

  it('gets the one that the value set has it from', async () => {
    const { result, parameter } = await inferred('both', 'dog')
    expect([result, parameter('system')]).toEqual([true, cs('living')])
  })

  it('is bad when there is none, or more than one', async () => {
    expect((await inferred('both', 'cow')).ids).toContain('error UNABLE_TO_INFER_CODESYSTEM code')
    expect((await inferred('both', 'cat')).ids).toContain('error Unable_to_resolve_system__value_set_has_multiple_matches code')
  })
})
