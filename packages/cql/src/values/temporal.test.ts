import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseDateTime, temporalText } from './temporal.js'

const UTC = 0

describe('a text of a date and time', () => {
  it('is read as precise as it is written, at its own offset or at that of the evaluation', () => {
    const read = (text: string): readonly unknown[] => {
      const { fields = [], precision, offset, low = 0, high = 0 } = parseDateTime(text, -60) ?? {}
      return [fields.join(' '), precision, offset, new Date(low).toISOString(), high - low]
    }
    expect(read('2015-03-04T10:30:05Z')).toEqual(['2015 3 4 10 30 5 0', 5, 0, '2015-03-04T10:30:05.000Z', 999])
    expect(read('2015-03-04T10:30:05')).toEqual(['2015 3 4 10 30 5 0', 5, -60, '2015-03-04T11:30:05.000Z', 999])
    expect(read('2015-03-04T10:30:05.25+14:00')).toEqual(['2015 3 4 10 30 5 250', 6, 840, '2015-03-03T20:30:05.250Z', 0])
    expect(read('2015-03-04T10:30:05.1239-00:30')).toEqual(['2015 3 4 10 30 5 123', 6, -30, '2015-03-04T11:00:05.123Z', 0])
    expect(read('2015-03-04T10:30Z')).toEqual(['2015 3 4 10 30 0 0', 4, 0, '2015-03-04T10:30:00.000Z', 59_999])
    expect(read('2015-03-04T10Z')).toEqual(['2015 3 4 10 0 0 0', 3, 0, '2015-03-04T10:00:00.000Z', 3_599_999])
    expect(read('2015-03-04')).toEqual(['2015 3 4 0 0 0 0', 2, -60, '2015-03-04T01:00:00.000Z', 86_399_999])
    expect(read('2016-02')).toEqual(['2016 2 1 0 0 0 0', 1, -60, '2016-02-01T01:00:00.000Z', 29 * 86_400_000 - 1])
    expect(read('0001')).toEqual(['1 1 1 0 0 0 0', 0, -60, '0001-01-01T01:00:00.000Z', 365 * 86_400_000 - 1])
  })

  it('is none where a field is out of range or anything else is in it', () => {
    const whole = '2015-03-04T10:30:05'
    const after = ['z', '.', '.Z', '.1Z1', 'Z ', '+1:00', '+14:01', '-15:00', '.5+01', 'Zé', '\n']
    const instead = ['2015-02-29T10:30:05', '2015-13-04T10:30:05', '0000-03-04T10:30:05', '2015-03-04T24:30:05', '2015-03-04T10:30:60']
    const signs = [' 015-03-04T10:30:05', '2015-03-04T1a:30:05', '2015-03-04T10:-1:05', '2015-03-04t10:30:05', '２015-03-04T10:30:05']
    for (const text of [...after.map((rest) => whole + rest), ...instead, ...signs, ` ${whole}`])
      expect([text, parseDateTime(text, UTC)]).toEqual([text, undefined])
    expect(parseDateTime(whole, UTC, 'date')).toBeUndefined()
  })

  it('is the text of what was read', () => {
    fc.assert(
      fc.property(
        fc.date({ min: new Date('0001-01-02'), max: new Date('9999-12-30'), noInvalidDate: true }),
        fc.integer({ min: -840, max: 840 }),
        (date, offset) => {
          const text = date.toISOString().slice(-24)
          const read = parseDateTime(text, offset)
          expect(read?.low).toBe(date.getTime())
          const local = parseDateTime(text.slice(0, -1), offset)
          expect(local?.low).toBe(date.getTime() - offset * 60_000)
          expect(local && parseDateTime(temporalText(local), UTC)).toEqual(local)
        },
      ),
    )
  })
})
