import { expect, test } from 'vitest'
import { discriminatorSteps } from './element-rule.js'

test.each([
  ['$this', []],
  ['code.coding', ['child code', 'child coding']],
  ["extension('http://x/y').value", ['extension http://x/y', 'child value']],
  ['resolve().code', ['resolve', 'child code']],
  ['value.ofType(Quantity)', ['child value', 'type Quantity']],
  ['$this.as(FHIR.string)', ['type string']],
  ['value[x]', ['child value']],
  ['entry.where(a)', ['child entry', 'child where']],
  ['', []],
])('%j is taken apart', (path, steps) => {
  expect(discriminatorSteps(path).map((step) => Object.values(step).join(' '))).toEqual(steps)
})
