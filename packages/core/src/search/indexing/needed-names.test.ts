import { describe, expect, it } from 'vitest'
import { published, publishedSearchParameters, publishedTypes } from '../../../test/r4-definitions.js'
import { childNames, compileFhirPath, rootNode } from '../../fhirpath/index.js'
import { searchParameters } from '../index.js'
import { neededNames } from './needed-names.js'

describe('what an expression needs to find anything', () => {
  it.each([
    ['Patient.name.given | Patient.name.family', ['Patient', 'name', 'Patient', 'name']],
    ['(Observation.value as Quantity)', ['Observation', 'value']],
    ['Observation.subject.where(resolve() is Patient)', ['Observation', 'subject']],
    ["Patient.extension('http://example.org/x')", ['Patient', 'extension']],
    ['code', ['code']],
    ['Patient.deceased.exists() and Patient.deceased != false', undefined],
    ['Patient.name.count()', undefined],
    ['Patient.name | Patient', undefined],
    ['Patient', undefined],
  ])('%s', (expression, names) => {
    expect(neededNames(expression)).toEqual(names)
  })

  it('without it nothing is found in published examples', () => {
    const model = publishedTypes()
    const parameters = searchParameters(publishedSearchParameters(), model)
    const found = ['Encounter', 'Observation', 'Patient']
      .flatMap((type) => published(type))
      .flatMap((resource) => {
        const root = rootNode(model, resource)
        const names = childNames(root)
        return parameters
          .of(root.type.name)
          .filter(({ expression }) => neededNames(expression)?.some((name) => names.has(name)) === false)
          .filter(({ expression }) => compileFhirPath(expression, { model }).test({ resource: root }, root) !== undefined)
      })
    expect(found).toEqual([])
  })
})
