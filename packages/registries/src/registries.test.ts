import { r4 } from '@fhir-ops/r4'
import { createContext, type OperationContext } from 'fhir-ops/context'
import { expand } from 'fhir-ops/expand'
import { lookup } from 'fhir-ops/lookup'
import { memoryStorage } from 'fhir-ops/memory'
import { validate } from 'fhir-ops/validate'
import { validateCodeInSystem, validateCode } from 'fhir-ops/validate-code'
import { describe, expect, it } from 'vitest'
import { languageTags, mediaTypes, registryDefinitions, uris } from './index.js'

const BCP47 = 'urn:ietf:bcp:47'
const BCP13 = 'urn:ietf:bcp:13'

const { indexer, definitions, ...release } = r4()
const ctx: OperationContext = createContext({
  ...release,
  storage: memoryStorage([], { indexer }),
  definitions: [...definitions, registryDefinitions()],
  codeSystems: [languageTags(), mediaTypes(), uris()],
})

async function isMember(valueSet: string, system: string, code: string): Promise<boolean> {
  return (await validateCode(ctx, { url: `http://hl7.org/fhir/ValueSet/${valueSet}`, system, code })).result
}

async function reasonAgainst(system: string, code: string): Promise<string | undefined> {
  const { issues } = await validateCodeInSystem(ctx, { system, code })
  return issues.find(({ severity }) => severity === 'information')?.text
}

describe('language tags', () => {
  it.each([
    ['en', 'English'],
    ['de-CH', 'German (Region=Switzerland)'],
    ['zh-Hant-TW', 'Chinese (Script=Han (Traditional variant), Region=Taiwan, Province of China)'],
    ['sl-rozaj-biske', 'Slovenian (Variant=Resian, Variant=The San Giorgio dialect of Resian)'],
    ['es-419', 'Spanish (Region=Latin America and the Caribbean)'],
    ['zh-yue', 'Chinese (Extlang=Yue Chinese)'],
    ['de-u-co-phonebk', 'German (Extension=u-co-phonebk)'],
    ['en-x-twain', 'English (Private-Use=x-twain)'],
    ['x-whatever', 'Private use (Private-Use=x-whatever)'],
    ['qaz', 'Private use'],
    ['i-klingon', 'Klingon'],
  ])('%s is %s', async (code, display) => {
    expect(await lookup(ctx, { system: BCP47, code })).toMatchObject({ code, display })
  })

  it.each([
    ['en-us', undefined],
    ['xx', 'Not a language tag: the language xx is not registered'],
    ['en-Xxxx', 'Not a language tag: the script Xxxx is not registered'],
    ['en-ZY', 'Not a language tag: the region ZY is not registered'],
    ['en-nonsense', 'Not a language tag: the variant nonsense is not registered'],
    ['de-yue', 'Not a language tag: yue goes with zh, not with de'],
    ['sl-rozaj-rozaj', 'Not a language tag: a variant occurs twice'],
    ['en-a-bbb-a-ccc', 'Not a language tag: an extension occurs twice'],
    ['en-x', 'Not a language tag: a single letter must be followed by a subtag'],
    ['a-bcd', 'Not a language tag: it has no language'],
    ['en_US', 'Not a language tag: subtags are 1 to 8 letters and digits, joined by hyphens'],
    ['constructor', 'Not a language tag: subtags are 1 to 8 letters and digits, joined by hyphens'],
    ['', 'Not a language tag: subtags are 1 to 8 letters and digits, joined by hyphens'],
  ])('%j is none', async (code, reason) => {
    expect(await reasonAgainst(BCP47, code)).toBe(reason)
  })

  it('tell their parts as properties', async () => {
    const { properties } = await lookup(ctx, { system: BCP47, code: 'de-CH', properties: ['region', 'language'] })
    expect(properties.slice(1)).toEqual([
      { code: 'language', value: ['valueCode', 'de'] },
      { code: 'region', value: ['valueCode', 'CH'] },
    ])
  })

  it('are in the value set of all languages, and listed as the common ones', async () => {
    expect(await isMember('all-languages', BCP47, 'gsw-CH')).toBe(true)
    expect(await isMember('all-languages', BCP47, 'gsw-ch')).toBe(false)
    const { contains, unclosed, total } = await expand(ctx, { url: 'http://hl7.org/fhir/ValueSet/all-languages' })
    expect(contains.map(({ code }) => code)).toContain('pt-BR')
    expect([unclosed.length, total]).toEqual([1, undefined])
  })

  it.each([
    ['region', 'exists', 'true', 'de-CH', true],
    ['region', 'exists', 'true', 'de', false],
    ['region', 'exists', 'false', 'de', true],
    ['language', '=', 'de', 'de-CH', true],
    ['language', '=', 'de', 'fr-CH', false],
  ])('are filtered by %s %s %s: %s', async (property, op, filterValue, code, result) => {
    const include = [{ system: BCP47, filter: [{ property, op, value: filterValue }] }]
    const valueSet = { resourceType: 'ValueSet', status: 'active', compose: { include } }
    expect((await validateCode(ctx, { valueSet, system: BCP47, code })).result).toBe(result)
  })
})

describe('URIs', () => {
  it.each([
    'http://example.org/a%20b?c=d#e',
    'urn:oid:1.2.3',
    'urn:uuid:c757873d-ec9a-4326-a141-556f43239520',
    'mailto:someone@example.org',
    'urn:ihe:pcc:xphr:2007',
    'http://[2001:db8::1]:80/',
  ])('%s is one', async (code) => {
    expect((await validateCodeInSystem(ctx, { system: 'urn:ietf:rfc:3986', code })).result).toBe(true)
  })

  it.each([
    ['Patient/1', 'Not a URI: it must begin with a scheme, as in urn:'],
    ['1.2.3', 'Not a URI: it must begin with a scheme, as in urn:'],
    ['urn:', 'Not a URI: nothing follows the scheme'],
    ['http://a b', "Not a URI: ' ' must be written as %20"],
    ['http://a/ü', "Not a URI: 'ü' must be written as %C3%BC"],
    ['http://a/50%', 'Not a URI: % must be followed by two hexadecimal digits'],
    ['http://a/{id}', "Not a URI: '{' must be written as %7B"],
    ['http://a/\ud800', 'Not a URI: half of a character is not text'],
  ])('%j is none', async (code, reason) => {
    expect(await reasonAgainst('urn:ietf:rfc:3986', code)).toBe(reason)
  })

  it('cannot be listed', async () => {
    const valueSet = { resourceType: 'ValueSet', status: 'active', compose: { include: [{ system: 'urn:ietf:rfc:3986' }] } }
    await expect(expand(ctx, { valueSet })).rejects.toMatchObject({ code: 'not-supported' })
    expect((await validateCode(ctx, { valueSet, system: 'urn:ietf:rfc:3986', code: 'urn:oid:1.2' })).result).toBe(true)
  })
})

describe('media types', () => {
  it.each([
    'text/plain',
    'TEXT/Plain',
    'application/fhir+json; fhirVersion=4.0',
    'application/fhir+xml;canonicalization=http://hl7.org/fhir/canonicalization/xml#document',
    'text/plain;charset="utf-8; x"',
    'application/dicom; variant=DICOM WADO-RS ; q=1',
    'image/vnd.example-1',
    'json',
  ])('%s is one', async (code) => {
    expect(await isMember('mimetypes', BCP13, code)).toBe(true)
  })

  it.each([
    'text',
    'text/',
    '/plain',
    'texts/plain',
    'text/plain;',
    'text/plain; a= b',
    'text/plain; a=b  c',
    'text/plain; charset',
    'text/pl ain',
    '',
    'toString',
    '__proto__',
    `text/${'x'.repeat(200)}`,
  ])('%j is none', async (code) => {
    expect(await isMember('mimetypes', BCP13, code)).toBe(false)
    expect(await reasonAgainst(BCP13, code)).toMatch(/^Not a media type/)
  })

  it('cannot be listed', async () => {
    await expect(expand(ctx, { url: 'http://hl7.org/fhir/ValueSet/mimetypes' })).rejects.toMatchObject({ code: 'not-supported' })
  })
})

describe('countries and currencies', () => {
  it.each([
    ['urn:iso:std:iso:3166', 'CH', 'Switzerland'],
    ['urn:iso:std:iso:3166', 'CHE', 'Switzerland'],
    ['urn:iso:std:iso:3166', '756', 'Switzerland'],
    ['urn:iso:std:iso:3166', 'XY', 'User-assigned'],
    ['urn:iso:std:iso:3166:-2', 'CH-ZH', 'Zürich'],
    ['urn:iso:std:iso:4217', 'CHF', 'Swiss Franc'],
  ])('%s %s is %s', async (system, code, display) => {
    expect(await lookup(ctx, { system, code })).toMatchObject({ display })
  })

  it.each([
    ['currencies', 'urn:iso:std:iso:4217', 'EUR', true],
    ['currencies', 'urn:iso:std:iso:4217', 'eur', false],
    ['iso3166-1-3', 'urn:iso:std:iso:3166', 'CHE', true],
    ['iso3166-1-3', 'urn:iso:std:iso:3166', 'CH', false],
    ['iso3166-1-N', 'urn:iso:std:iso:3166', '756', true],
    ['iso3166-1-2', 'urn:iso:std:iso:3166', 'CH', true],
    ['iso3166-1-2', 'urn:iso:std:iso:3166', 'ZY', false],
  ])('in the value set %s, %s|%s: %s', async (valueSet, system, code, result) => {
    expect(await isMember(valueSet, system, code)).toBe(result)
  })

  it('are listed: three codes for each country, and those that users assign', async () => {
    const valueSet = { resourceType: 'ValueSet', status: 'active', compose: { include: [{ system: 'urn:iso:std:iso:3166' }] } }
    expect((await expand(ctx, { valueSet })).total).toBe(789)
    expect((await expand(ctx, { url: 'http://hl7.org/fhir/ValueSet/currencies', filter: 'franc swiss' })).contains[0]?.code).toBe('CHF')
  })
})

describe('bindings of resources', () => {
  const attachment = (contentType: string): string =>
    JSON.stringify({
      resourceType: 'Patient',
      photo: [{ contentType, language: 'en' }],
      text: { status: 'generated', div: '<div xmlns="http://www.w3.org/1999/xhtml">x</div>' },
    })

  it.each([
    ['image/png', true],
    ['no type', false],
  ])('to media types are checked: %s', async (contentType, valid) => {
    expect((await validate(ctx, { resource: attachment(contentType) })).valid).toBe(valid)
  })

  it.each([
    ['CHF', true],
    ['XYZ', false],
  ])('to currencies are checked: %s', async (currency, valid) => {
    const resource = JSON.stringify({
      resourceType: 'Invoice',
      status: 'draft',
      totalNet: { value: 1, currency },
      text: { status: 'generated', div: '<div xmlns="http://www.w3.org/1999/xhtml">x</div>' },
    })
    expect((await validate(ctx, { resource })).valid).toBe(valid)
  })
})
