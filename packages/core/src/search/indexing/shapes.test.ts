import { describe, expect, it } from 'vitest'
import { published, publishedSearchParameters, publishedTypes } from '../../../test/r4-definitions.js'
import { childSlots, compileBranches, parseFhirPath, rootNode } from '../../fhirpath/index.js'
import { searchParameters } from '../index.js'
import { isAnyMet, needsOf } from './selector.js'

const model = publishedTypes()

describe('what an expression needs to find anything', () => {
  it.each([
    ['Patient.name.given | Patient.name.family', ['Patient', 'name', 'Patient', 'name']],
    ['(Observation.value as Quantity)', ['Observation', 'value as Quantity']],
    ['value.ofType(Quantity).value', ['value as Quantity']],
    ['Observation.component.value.as(Quantity)', ['Observation', 'component']],
    ['Observation.subject.where(resolve() is Patient)', ['Observation', 'subject']],
    ["Patient.extension('http://example.org/x')", ['Patient', 'extension']],
    ['code', ['code']],
    ['Patient.deceased.exists() and Patient.deceased != false', undefined],
    ['Patient.name.count()', undefined],
    ['Patient.name | Patient', undefined],
    ['Patient', undefined],
  ])('%s', (expression, needs) => {
    const found = needsOf(parseFhirPath(expression))
    expect(found?.map(({ name, type }) => (type === undefined ? name : `${name} as ${type}`))).toEqual(needs)
  })

  it.each([
    ['Condition', { onsetAge: { value: 7 } }, 'onset as Age', true],
    ['Condition', { onsetAge: { value: 7 } }, 'onset as Quantity', true],
    ['Condition', { onsetAge: { value: 7 } }, 'onset as dateTime', false],
    ['Condition', { _onsetString: { extension: [] } }, 'onset as string', true],
    ['Condition', { onsetString: 'then', onsetAge: { value: 7 } }, 'onset as Age', true],
    ['Observation', { valueString: 'a' }, 'value as String', true],
    ['Observation', { subject: {} }, 'subject as Quantity', true],
  ])('%s with %j may have %s: %s', (resourceType, members, expression, isMet) => {
    const children = childSlots(rootNode(model, { resourceType, ...members }))
    expect(isAnyMet(model, needsOf(parseFhirPath(expression)) ?? [], children)).toBe(isMet)
  })

  it('without it nothing is found in published examples', () => {
    const parameters = searchParameters(publishedSearchParameters(), model)
    const found = ['Condition', 'Encounter', 'Observation', 'Patient'].flatMap((type) => {
      const branches = parameters.of(type).flatMap(({ expression }) => compileBranches(expression, { model }))
      return published(type).flatMap((resource) => {
        const root = rootNode(model, resource)
        const children = childSlots(root)
        return branches
          .filter(({ ast }) => {
            const needs = needsOf(ast)
            return needs !== undefined && !isAnyMet(model, needs, children)
          })
          .filter((branch) => branch.test({ resource: root }, root) !== undefined)
      })
    })
    expect(found).toEqual([])
  })
})
