import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { ANY_CHARACTER } from '../../../../test/effort.js'
import { isHl7Message, parseHl7 } from './index.js'

const ADT = [
  'MSH|^~\\&|LAB|GOOD HEALTH|EHR|CLINIC|20260102030405||ADT^A01^ADT_A01|MSG00001|P|2.5.1||||||UNICODE UTF-8',
  'EVN|A01|20260102030405',
  'PID|1||12345^^^HOSP&1.2.3&ISO^MR~999^^^SSA^SS||Smith \\T\\ Sons^John^\\S\\||19800101|M||""|1 Main\\.br\\St',
  'NTE|1||first',
  'NTE|2||cost \\X32C2A3\\ \\H\\bold\\N\\',
  'ZZZ|a~b~c|x&y^z',
].join('\r')

describe('reading', () => {
  test.each([
    ['MSH-1', '|'],
    ['MSH-2', '^~\\&'],
    ['MSH-3', 'LAB'],
    ['MSH-9.2', 'A01'],
    ['MSH.9.2', 'A01'],
    ['PID-3', '12345'],
    ['PID-3.4.2', '1.2.3'],
    ['PID-3[2]', '999'],
    ['PID-3[2].5', 'SS'],
    ['PID-5', 'Smith & Sons'],
    ['PID-5.3', '^'],
    ['PID-9', undefined],
    ['PID-10', '""'],
    ['PID-11', '1 Main\nSt'],
    ['PID-99', undefined],
    ['NTE[2]-3', 'cost 2£ \\H\\bold\\N\\'],
    ['NTE[3]-3', undefined],
    ['ZZZ-1[3]', 'c'],
    ['ZZZ-2.1.2', 'y'],
    ['ZZ1-1', undefined],
  ])('%s is %j', (path, expected) => {
    expect(parseHl7(ADT).get(path)).toBe(expected)
  })

  test('a segment gives its fields, repetitions, components and subcomponents', () => {
    const message = parseHl7(ADT)
    const [first, second] = message.segment('PID')!.field(3).repetitions
    expect(message.segments.map(({ name }) => name)).toEqual(['MSH', 'EVN', 'PID', 'NTE', 'NTE', 'ZZZ'])
    expect(message.segment('PID')!.size).toBe(11)
    expect(first!.components[3]!.subcomponents).toEqual(['HOSP', '1.2.3', 'ISO'])
    expect(second!.text).toBe('999^^^SSA^SS')
    expect(message.segment('NTE', 2)!.text).toBe('NTE|2||cost \\X32C2A3\\ \\H\\bold\\N\\')
    expect(message.segment('MSH')!.size).toBe(18)
    expect(message.segment('PID')!.field(50).repetitions[0]!.components[0]!.subcomponents).toEqual([''])
  })

  test.each(['\r', '\n', '\r\n'])('lines may end with %j', (end) => {
    const text = ADT.replaceAll('\r', end) + end
    const message = parseHl7(text)
    expect(message.segments).toHaveLength(6)
    expect(message.get('EVN-1')).toBe('A01')
    expect(message.toString()).toBe(text)
  })

  test('MLLP framing is taken off', () => {
    expect(parseHl7(`\u000b${ADT}\r\u001c\r`).toString()).toBe(`${ADT}\r`)
    expect(parseHl7(`\u000b${ADT}\r\u001c`).toString()).toBe(`${ADT}\r`)
  })

  test('the separators may be any distinct marks', () => {
    const message = parseHl7('MSH!@$%*!APP\rPID!a@b*c$d!x%F%y%T%z')
    expect(message.separators).toEqual({ field: '!', component: '@', repetition: '$', escape: '%', subcomponent: '*' })
    expect(['PID-1', 'PID-1.2', 'PID-1.2.2', 'PID-1[2]', 'PID-2'].map((path) => message.get(path))).toEqual(['a', 'b', 'c', 'd', 'x!y*z'])
  })

  test('the truncation mark of HL7 2.7 is part of MSH-2', () => {
    expect(parseHl7('MSH|^~\\&#|APP').get('MSH-2')).toBe('^~\\&#')
  })

  test.each(['\\', '\\F', 'C:\\temp', '\\\\', '\\XZZ\\', '\\X1\\', '\\XFF\\', '\\Cxx\\', '\\f\\'])(
    'the escape %j is kept as text',
    (text) => {
      expect(parseHl7(`MSH|^~\\&|${text}`).get('MSH-3')).toBe(text)
    },
  )

  test.each([
    '',
    'MSH',
    'MSH|',
    'MSH|^~\\',
    'MSH|^~\\|APP',
    'MSH|^^\\&|APP',
    'MSH||~\\&|APP',
    'MSH|^~\\&#%|APP',
    'MSHa^~\\&a',
    'MSH|^~\\1|APP',
    'MSH|^~ &|APP',
    'MSH\r^~\\&\rAPP',
    'MSH|^~\\&&|APP',
    'msh|^~\\&|APP',
    'PID|1\rMSH|^~\\&|APP',
    '{"a":1}',
    'MSH😀^~\\&😀',
  ])('%j is refused', (text) => {
    expect(() => parseHl7(text)).toThrow(expect.objectContaining({ code: 'body-invalid' }))
  })

  test.each([
    ['characters', `MSH|^~\\&|${'x'.repeat(4 * 1024 * 1024 - 9)}`, 'y'],
    ['segments', `MSH|^~\\&|${'\rA'.repeat(99_999)}`, '\rA'],
  ])('a message with the most %s is read, one more is refused', (_, text, more) => {
    expect(parseHl7(text).segments.length).toBeGreaterThan(0)
    expect(() => parseHl7(text + more)).toThrow(expect.objectContaining({ code: 'too-costly' }))
  })

  test.each(['PID', 'PID-0', 'PID-1.0', 'PID3', 'PID-3[0]', 'pid-3', 'PID-3.1.1.1', '', '__proto__', 'PID-99999'])(
    '%j is not a path',
    (path) => {
      expect(() => parseHl7(ADT).get(path)).toThrow(TypeError)
    },
  )
})

describe('changing', () => {
  test('only the leaf that is set changes, and the message before stays', () => {
    const before = parseHl7(ADT)
    expect(before.set('PID-3[2].4', 'A|B').toString()).toBe(ADT.replace('^SSA^', '^A\\F\\B^'))
    expect(before.toString()).toBe(ADT)
  })

  test('missing parts are added empty', () => {
    const message = parseHl7('MSH|^~\\&\rPID')
    expect(message.set('PID-2[2].3.2', 'x').set('MSH-4', 'y').toString()).toBe('MSH|^~\\&||y\rPID||~^^&x')
  })

  test.each([
    ['MSH|^~\\&\r', 'MSH|^~\\&\rNTE|1\r'],
    ['MSH|^~\\&\r\n', 'MSH|^~\\&\r\nNTE|1\r\n'],
    ['MSH|^~\\&', 'MSH|^~\\&\rNTE|1'],
  ])('a segment is added behind %j with its line end', (text, expected) => {
    expect(parseHl7(text).add('NTE|1').toString()).toBe(expected)
  })

  test('segments are taken out by name', () => {
    expect(parseHl7(`${ADT}\r`).without('NTE').toString()).toBe(`${ADT}\r`.replace(/NTE.*\r/g, ''))
  })

  test('the declaration of the separators and absent segments cannot be set', () => {
    expect(() => parseHl7(ADT).set('MSH-2', 'x')).toThrow(TypeError)
    expect(() => parseHl7(ADT).set('OBX-1', 'x')).toThrow(expect.objectContaining({ code: 'unprocessable' }))
  })
})

describe('acknowledging', () => {
  const at = new Date('2026-03-04T05:06:07Z')

  test('sender and receiver change places', () => {
    expect(parseHl7(ADT).ack({ code: 'AA', controlId: 'ACK1', at }).toString()).toBe(
      'MSH|^~\\&|EHR|CLINIC|LAB|GOOD HEALTH|20260304050607+0000||ACK^A01^ACK|ACK1|P|2.5.1||||||UNICODE UTF-8\rMSA|AA|MSG00001\r',
    )
  })

  test('the text is escaped with the separators of the message', () => {
    const ack = parseHl7('MSH!@$%*!A!B!C!D!!!ORU!7!T!2.3').ack({ code: 'AE', controlId: 'x!y', at, text: 'a!b\r' })
    expect(ack.toString()).toBe('MSH!@$%*!C!D!A!B!20260304050607+0000!!ACK!x%F%y!T!2.3\rMSA!AE!7!a%F%b%X0D%\r')
    expect(ack.get('MSA-3')).toBe('a!b\r')
  })
})

describe('for every message', () => {
  const separators = fc.uniqueArray(fc.constantFrom(...'|^~\\&!@$%*#:;+-=?/'.split('')), { minLength: 5, maxLength: 5 })
  const piece = fc.string({ unit: fc.constantFrom(...Array.from('ab|^~\\&!@$%*#XFE0\r\n é😀')), maxLength: 30 })

  test('what was not changed is written as it was read', () => {
    fc.assert(
      fc.property(separators, piece, fc.constantFrom('\r', '\n', '\r\n', ''), (marks, rest, end) => {
        const text = `MSH${marks.join('')}${marks[0]}${rest}${end}`
        const message = parseHl7(text)
        expect(message.toString()).toBe(text)
        for (const segment of message.segments)
          for (let n = 1; n <= segment.size; n++) expect(segment.field(n).repetitions.length).toBeGreaterThan(0)
      }),
    )
  })

  test('what is set is got, and nothing else changes', () => {
    const index = fc.integer({ min: 1, max: 4 })
    fc.assert(
      fc.property(separators, piece, fc.tuple(index, index, index, index), (marks, value, [field, repetition, component, subcomponent]) => {
        const message = parseHl7(`MSH${marks.join('')}${marks[0]}app\rPID${marks[0]}x${marks[1]}y${marks[2]}z${marks[0]}w\rNTE`)
        const path = `PID-${field}[${repetition}].${component}.${subcomponent}`
        const changed = message.set(path, value)
        expect(changed.get(path)).toBe(value === '' ? undefined : value)
        expect(
          changed
            .set(path, '')
            .set(path, message.get(path) ?? '')
            .get(path),
        ).toBe(message.get(path))
        expect(changed.segments.map(({ name }) => name)).toEqual(['MSH', 'PID', 'NTE'])
        for (const other of ['PID-1.1', 'PID-1.2', 'PID-1[2]', 'PID-2', 'MSH-3'])
          if (parsed(other) !== parsed(path)) expect(changed.get(other)).toBe(message.get(other))
      }),
    )
  })

  test('any text is read or refused with a code', () => {
    fc.assert(
      fc.property(fc.string({ unit: ANY_CHARACTER }), fc.boolean(), (text, isHl7) => {
        try {
          expect(isHl7Message(parseHl7((isHl7 ? 'MSH|^~\\&' : '') + text))).toBe(true)
        } catch (error) {
          expect(error).toMatchObject({ code: 'body-invalid' })
        }
      }),
    )
  })
})

/** The path with every number written out. */
function parsed(path: string): string {
  const [segment, rest = ''] = path.split('-')
  const [, field, repetition = '1', component = '1', subcomponent = '1'] = /^(\d+)(?:\[(\d+)\])?(?:\.(\d+))?(?:\.(\d+))?$/.exec(rest) ?? []
  return `${segment}-${field}[${repetition}].${component}.${subcomponent}`
}
