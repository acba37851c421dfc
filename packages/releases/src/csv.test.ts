import { describe, expect, it } from 'vitest'
import { csvRows } from './release-file.js'

async function rows(...pieces: readonly string[]): Promise<readonly (readonly (string | undefined)[])[]> {
  async function* bytes(): AsyncGenerator<Uint8Array> {
    for (const piece of pieces) yield Buffer.from(piece)
  }
  const found: (readonly (string | undefined)[])[] = []
  const file = { name: 'file.csv', size: 0, bytes, mark: async () => '' }
  for await (const row of csvRows(file)) found.push([row.get('a'), row.get('b')])
  return found
}

describe('a CSV file', () => {
  it.each([
    ['with values in quotes', ['a,b\n"1, ""x""\ny",2\n'], [['1, "x"\ny', '2']]],
    ['with line breaks of Windows', ['a,b\r\n1,2\r\n'], [['1', '2']]],
    ['without a line break at its end', ['a,b\n1,2'], [['1', '2']]],
    ['without a line break after an empty last value', ['a,b\n1,'], [['1', undefined]]],
    ['with nothing but empty values at its end', ['a,b\n,'], [[undefined, undefined]]],
    [
      'in pieces',
      ['a,b\n"1\n', '",2\n3,', '4'],
      [
        ['1\n', '2'],
        ['3', '4'],
      ],
    ],
  ])('%s is read', async (_, pieces, expected) => expect(await rows(...pieces)).toEqual(expected))

  it.each([
    ['quotes that do not end', 'a,b\n"1,2\n', 'file.csv has quotes that do not end.'],
    ['quotes that do not end soon', `a,b\n"${'x'.repeat(2_000_000)}`, 'file.csv has a line of more than 1048576 bytes.'],
    ['quotes that do not end for many lines', `a,b\n"${'x\n'.repeat(1_000_000)}`, 'file.csv has quotes that do not end.'],
    ['a quote in the middle of a value', 'a,b\n1"2,3\n', 'A row of file.csv has a quote in the middle of a value.'],
    ['a row with fewer values', 'a,b\n1\n', 'There are 1 values for 2 columns in row 1 of file.csv.'],
    ['a row with more values', 'a,b\n1,2,3\n', 'There are 3 values for 2 columns in row 1 of file.csv.'],
  ])('with %s is refused', async (_, text, message) => {
    await expect(rows(text)).rejects.toMatchObject({ code: 'definition-invalid', message })
  })
})
