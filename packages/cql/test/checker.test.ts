import { r4 } from '@fhir-ops/r4'
import { createContext, type OperationContext } from 'fhir-ops/context'
import { OperationError } from 'fhir-ops/errors'
import { memoryStorage } from 'fhir-ops/memory'
import { validate } from 'fhir-ops/validate'
import { describe, expect, it } from 'vitest'
import { cqlChecker } from '../src/index.js'
import type { CqlTranslator } from '../src/translator/index.js'
import { translator } from './translator.fixture.js'

const { types, ...release } = r4()

const library = (text: string, more: object = {}): object => ({
  resourceType: 'Library',
  url: 'http://x/Library/Checked',
  name: 'Checked',
  version: '1',
  status: 'active',
  type: { coding: [{ system: 'http://terminology.hl7.org/CodeSystem/library-type', code: 'logic-library' }] },
  content: [{ contentType: 'text/cql', data: btoa(text) }],
  ...more,
})
const context = (over: object = {}): OperationContext =>
  createContext({ ...release, types, storage: memoryStorage([]), checkLibrary: cqlChecker({ translator }), ...over })
const told = async (resource: object, over: object = {}, input: object = {}): Promise<readonly unknown[]> =>
  (await validate(context(over), { resource, ...input })).findings
    .filter(({ kind }) => kind.startsWith('cql'))
    .map(({ kind, severity, text, expression }) => [kind, severity, text, expression])

const RIGHT = "library Checked version '1'\nusing FHIR version '4.0.1'\ncontext Patient\ndefine A: exists [Encounter]"

describe('$validate of a Library', () => {
  it('finds nothing in CQL that is right', async () => {
    expect(await told(library(RIGHT))).toEqual([])
  })

  it('names line and column of errors, and the content that has them', async () => {
    const [first] = await told(library(`${RIGHT}\ndefine B: 1 + 'a'`))
    expect(first).toEqual(['cql-error', 'error', expect.stringMatching(/^Line 5, column \d+: .*Add/), 'Library.content[0]'])
    const pdf = { contentType: 'application/pdf', data: 'AAAA' }
    const second = library('', { content: [pdf, { contentType: 'text/cql; charset=utf-8', data: btoa('library Checked define') }] })
    expect((await told(second))[0]).toEqual(['cql-error', 'error', expect.stringMatching(/^Line 1, column/), 'Library.content[1]'])
    expect((await validate(context(), { resource: second })).valid).toBe(false)
  })

  it.each([
    [
      'a library that is missing',
      `${RIGHT.replace('context', "include None version '2'\ncontext")}`,
      /included library 'None' version '2' does not exist/,
    ],
  ])('names %s', async (_, text, message) => {
    expect(await told(library(text))).toEqual([['cql-error', 'error', expect.stringMatching(message), 'Library.content[0]']])
  })

  it('names what is not a text', async () => {
    const broken = library('', { content: [{ contentType: 'text/cql', data: '/w==' }] })
    expect(await told(broken)).toEqual([['cql-error', 'error', expect.stringContaining('not base64 of UTF-8'), 'Library.content[0]']])
  })

  it('says where CQL is not checked, and checks structure without it', async () => {
    const unchecked = [['cql-unchecked', 'information', expect.stringContaining('not checked'), 'Library.content[0]']]
    expect(await told(library(RIGHT), { checkLibrary: undefined })).toEqual(unchecked)
    expect(await told(library('broken'), {}, { checks: 'structure' })).toEqual([])
    expect(await told(library('', { content: [{ contentType: 'text/cql', url: 'http://x/a.cql' }] }))).toEqual([])
  })

  it('heeds suppressions', async () => {
    const wrong = library(`${RIGHT}\ndefine B: 1 + 'a'`)
    expect(await told(wrong, {}, { suppress: [{ id: 'cql-error', reason: 'known', until: '9999-12-31' }] })).toEqual([])
    const late = { suppress: [{ id: 'cql-error', reason: 'known', until: '2020-12-31' }] }
    const { findings } = await validate(context(), { resource: wrong, ...late })
    expect(findings.map(({ kind }) => kind)).toEqual(expect.arrayContaining(['cql-error', 'suppression-expired']))
  })

  it('fails where it cannot tell', async () => {
    const slow: CqlTranslator = { translate: () => Promise.reject(new OperationError('too-costly', 'Too long.')) }
    await expect(told(library(RIGHT), { checkLibrary: cqlChecker({ translator: slow }) })).rejects.toMatchObject({ code: 'too-costly' })
  })
})
