import { describe, expect, it } from 'vitest'
import { rounds } from '../../../../../test/effort.js'
import { published, publishedSearchParameters, publishedTypes } from '../../../test/r4-definitions.js'
import { ANY_TYPE, compileBranches, isNode, parseFhirPath, PENDING, rootNode } from '../../fhirpath/index.js'
import { isObject, type JsonObject } from '../../json/index.js'
import { resourceTypes } from '../../storage/index.js'
import { searchParameters } from '../index.js'
import { directPath } from './direct-path.js'

const model = publishedTypes()
const parameters = searchParameters(publishedSearchParameters(), model)

/** What a path reads from a resource; `undefined` where it has to be evaluated. */
function read(type: string, expression: string, members: object): readonly unknown[] | undefined {
  const found: unknown[] = []
  const path = directPath(parseFhirPath(expression), model.type(type) ?? ANY_TYPE, model)
  return path?.read({ resourceType: type, ...members }, found) === true ? found : undefined
}

describe('a direct path', () => {
  it.each([
    ['Patient', 'Patient.name.given', { name: [{ given: ['a', null, 'b'] }, {}, { given: ['c'] }] }, ['a', 'b', 'c']],
    ['Observation', 'Observation.value as Quantity', { valueQuantity: { value: 1 }, valueString: 'x' }, [{ value: 1 }]],
    ['Observation', 'Observation.value.as(String)', { valueString: 'x' }, ['x']],
    ['Condition', 'Condition.onset.as(Age)', { onsetAge: { value: 1 }, onsetString: 'x' }, [{ value: 1 }]],
    ['Condition', 'onset.ofType(Range)', { onsetAge: { value: 1 } }, []],
    ['Patient', 'Patient.birthDate', { _birthDate: { extension: [] } }, []],
    ['Patient', 'Patient.active', { active: false }, [false]],
    ['Observation', 'Observation.subject.where(resolve() is Patient)', { subject: { reference: 'Group/1' } }, [{ reference: 'Group/1' }]],
    ['Patient', 'Patient.name', { name: [{}, null, 'x', [], { family: 'F' }] }, [{ family: 'F' }]],
  ])('of %s %s in %j reads %j', (type, expression, members, expected) => {
    expect(read(type, expression, members)).toEqual(expected)
  })

  it.each([
    ['a text instead of an object', 'Patient', 'Patient.name.given', { name: 'x' }],
    ['a list of texts instead of objects', 'Patient', 'Patient.name.given', { name: [{ given: ['a'] }, 'x'] }],
    ['an object of which there are extensions only', 'Patient', 'Patient.name.given', { _name: [{ given: ['a'] }] }],
    ['extensions of an empty list', 'Patient', 'Patient.name.given', { name: [], _name: [{ given: ['a'] }] }],
    ['a list of extensions beside one value', 'Patient', 'Patient.birthDate', { birthDate: '2020', _birthDate: [{}] }],
    ['what is computed', 'Patient', 'Patient.deceased.exists() and Patient.deceased != false', { deceasedBoolean: true }],
    ['a path through resources', 'Bundle', 'Bundle.entry[0].resource', { entry: [] }],
    ['a path through resources of any type', 'Bundle', 'Bundle.entry.resource.id', { entry: [{ resource: { id: 'x' } }] }],
    ['a condition', 'Patient', "Patient.telecom.where(system='phone')", { telecom: [] }],
    ['the name of another type', 'Patient', 'Observation.code', {}],
    ['a step from a text', 'Patient', 'Patient.birthDate.value', { birthDate: '2020' }],
  ])('leaves %s to the evaluation', (_, type, expression, members) => {
    expect(read(type, expression, members)).toBeUndefined()
  })

  it('that asks for the type of references says so', () => {
    const path = directPath(parseFhirPath('Observation.subject.where(resolve() is Patient)'), model.type('Observation') ?? ANY_TYPE, model)
    expect(path?.target).toBe('Patient')
  })

  it('is what most search parameters are', () => {
    const all = resourceTypes().flatMap((type) => {
      const root = model.type(type)
      const branches = parameters.of(type).flatMap(({ expression }) => compileBranches(expression, { model }))
      return root === undefined ? [] : branches.map(({ ast }) => directPath(ast, root, model) !== undefined)
    })
    expect(all.length).toBeGreaterThan(1_400)
    expect(all.filter(Boolean).length / all.length).toBeGreaterThan(0.9)
  })

  it.each(['Condition', 'Encounter', 'MedicationRequest', 'Observation', 'Patient', 'Questionnaire'])(
    'finds in examples of %s, whole and spoilt, what the evaluation finds',
    (type) => {
      const root = model.type(type) ?? ANY_TYPE
      const branches = parameters
        .of(type)
        .flatMap(({ expression }) => compileBranches(expression, { model }))
        .map((branch) => ({ ...branch, direct: directPath(branch.ast, root, model) }))
        .filter(({ direct }) => direct !== undefined && direct.target === undefined)
      let compared = 0
      const resources = published(type, { most: rounds({ quick: 8, all: 40 }) })
      for (const resource of resources.flatMap((one) => [one, ...spoilt(one)])) {
        const node = rootNode(model, resource)
        for (const { direct, evaluate, ast } of branches) {
          const found: unknown[] = []
          if (direct?.read(resource, found) !== true) continue
          const items = evaluate({ resource: node }, node)
          const values = items === PENDING ? [] : items.map((item) => (isNode(item) ? item.value : item))
          expect(found, JSON.stringify(ast)).toEqual(values.filter((value) => value !== undefined))
          compared++
        }
      }
      expect(compared).toBeGreaterThan(100)
    },
  )
})

const ODD: readonly unknown[] = [null, [], 'x', [null], [{}], { coding: [{ code: 'a' }] }, [[{}]], { extension: [] }, [null, { code: 'a' }]]

/** A resource with each of its members, and of theirs, replaced in turn, and with an extension beside it. */
function spoilt(resource: JsonObject): readonly JsonObject[] {
  return Object.keys(resource).flatMap((name, index) => {
    const odd = ODD[index % ODD.length]
    const value = resource[name]
    const inner = isObject(value) ? Object.keys(value).map((key) => ({ ...resource, [name]: { ...value, [key]: odd } })) : []
    if (name === 'resourceType') return []
    return [{ ...resource, [name]: odd }, { ...resource, [`_${name}`]: odd }, { ...resource, [name]: [value, odd] }, ...inner]
  })
}
