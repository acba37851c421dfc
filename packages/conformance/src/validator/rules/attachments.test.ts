import { expect, test } from 'vitest'
import { findingsOf, issuesOf } from './findings-of.js'

const KINDS = /^(attachment|primitive-)/
const AT_DATA = 'error primitive-form Patient.photo[0].data'

// TYPE_SPECIFIC_CHECKS_DT_ATT_B64_DECODE_FAIL, Type_Specific_Checks_DT_Base64_Valid
test.each<readonly [data: string, said: readonly string[]]>([
  ['YQ==', []],
  ['YQ', [AT_DATA]],
  ['a.b=', [AT_DATA]],
  ['...', ['error attachment Patient.photo[0]']],
  ['YWJj.YWJj', ['error attachment Patient.photo[0]']],
  ['YQ==YQ==', ['error attachment Patient.photo[0]']],
  ['====', ['error attachment Patient.photo[0]']],
  ['YWJj\nYWJj', ['warning primitive-space Patient.photo[0].data']],
])('the data of an attachment: %j', async (data, said) => {
  expect(await findingsOf({ resourceType: 'Patient', photo: [{ contentType: 'image/png', data }] }, [], KINDS)).toEqual(said)
})

test('a hash that cannot be decoded is a fault of the attachment', async () => {
  const photo = [{ contentType: 'image/png', data: 'YQ==', hash: 'YQ==YQ==' }]
  expect(await issuesOf({ resourceType: 'Patient', photo }, [], KINDS)).toEqual(['error|structure attachment Patient.photo[0]'])
})

test('data elsewhere that cannot be decoded is wrong itself', async () => {
  const binary = { resourceType: 'Binary', contentType: 'image/png', data: 'YQ==YQ==' }
  expect(await findingsOf(binary, [], KINDS)).toEqual(['error primitive-form Binary.data'])
})
