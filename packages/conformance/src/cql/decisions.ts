/** The answers of two engines to an expression. A text that begins with `ERROR` is a refusal. */
export interface Answers {
  readonly text: string
  readonly ours: string
  readonly reference: string
}

/** The reason why two answers differ, and which one is right by the specification. */
export interface Decision {
  readonly name: string
  readonly right: 'ours' | 'theirs' | 'both'
  readonly why: string
  readonly applies: (answers: Answers) => boolean
}

const UNIT = /'(?:mg|g|cm|a|1)'|\b(?:year|month|week|day|hour)s?\b/
const EXTREME = /2147483647|2147483648|9223372036854775807|99999999999999999999|@9999-12-31|milliseconds between| \^ |Power\(/

/** The decisions; the first that applies is the reason. "R" is the CQL reference, "D" the developer's guide, of CQL 1.5.3. */
export const DECISIONS: readonly Decision[] = [
  {
    name: 'order of boundaries unknown',
    right: 'ours',
    why: 'An interval is an error when its low boundary is known to be above the high one (D, Intervals); the reference engine refuses it when that is not known, too.',
    applies: ({ reference }) => reference.startsWith('ERROR Invalid Interval'),
  },
  {
    name: 'failure of the program',
    right: 'ours',
    why: 'The reference engine ends with an exception of its host language where an operator is defined: a null operand, a negative count, a logarithm that is not a number, an uncertain number, an end of the range.',
    applies: ({ reference }) =>
      /^ERROR .*(?:Cannot invoke|out of bounds|is neither a decimal|Infinite or NaN|^ERROR Expected|Expected (?:To|Product)|Invalid operation|exceeds the maximum|undefined Except|Could not resolve)/.test(
        reference,
      ),
  },
  {
    name: 'rounding',
    right: 'ours',
    why: 'Decimals have 8 digits after the point and are rounded (R, Decimal); the reference engine cuts the digits off, or keeps more.',
    applies: ({ ours, reference }) => fewDigits(ours) === fewDigits(reference),
  },
  {
    name: 'weeks',
    right: 'ours',
    why: 'A week is 7 days (D, Date and time arithmetic); the reference engine turns many of them into years of 52.',
    applies: ({ text, ours, reference }) => /\d weeks\b/.test(text) && /@\d/.test(ours) && /@\d/.test(reference),
  },
  {
    name: 'beyond the range',
    right: 'ours',
    why: 'A result that cannot be represented is null (R, Arithmetic operators) and a point beyond the first or last is an error (R, Successor); the reference engine wraps around or goes on.',
    applies: ({ text, ours }) => EXTREME.test(text) || /There is no (?:successor|predecessor)|larger than the largest/.test(ours),
  },
  {
    name: 'range without a point',
    right: 'ours',
    why: 'What ends before the first point of its type, or begins after the last, is an error like any interval whose bounds are reversed (D, Intervals); the reference engine finds that out only when one bound is not null.',
    applies: ({ ours }) => ours.startsWith('ERROR The low bound of an interval must not be above the high bound'),
  },
  {
    name: 'numbers from text',
    right: 'ours',
    why: "ToInteger and ToLong take digits only (R, ToInteger); the reference engine reads '1.5' as 1.",
    applies: ({ text }) => /ToLong\(|ToInteger\(/.test(text) && text.includes('1.5'),
  },
  {
    name: 'null and empty texts in lists',
    right: 'ours',
    why: 'Combine passes over nulls and gives null for an empty list (R, Combine), and an empty text splits into itself (R, Split).',
    applies: ({ text }) => /Combine\(|Split\(/.test(text),
  },
  {
    name: 'start of an empty text',
    right: 'ours',
    why: 'Substring is null for a start that is outside of the text (R, Substring); an empty text begins at 0, as the published tests have it. The reference engine gives null.',
    applies: ({ text, reference }) => /Substring\((?:Coalesce\()?'',/.test(text) && reference === 'null',
  },
  {
    name: 'precision of times',
    right: 'ours',
    why: 'A difference at a precision that a value lacks is uncertain, which lists its least and greatest value (S, Uncertainty), and so are years, months and weeks between dates of which one has no day and less than the other; the reference engine gives null, a number, or an end that is one off.',
    applies: ({ text }) => / between /.test(text),
  },
  {
    name: 'evaluated although not needed',
    right: 'ours',
    why: 'Coalesce ends at the first value that is not null (R, Coalesce); the reference engine fails by an operand after it, or by a unit interval that is not known to be none (R, Point From).',
    applies: ({ reference }) => /^ERROR (?:Expected a list with at most one|Cannot perform PointFrom)/.test(reference),
  },
  {
    name: 'fractions of seconds',
    right: 'ours',
    why: 'The digits after the second are its fraction: `.5` is half a second (R, Time); the reference translator reads them as a number of milliseconds.',
    applies: ({ text, ours }) => /:\d\d\.\d{1,2}(?!\d)/.test(text) && /:\d\d\.\d/.test(ours),
  },
  {
    name: 'known in spite of null',
    right: 'ours',
    why: 'What is false at one boundary is false although the other is unknown (R, Logical And), and intervals that are known not to meet have nothing to take away (R, Except); null instead of a list is not an element (R, Included In); a boundary that cannot be known is null.',
    applies: ({ text }) => /properly included in|\bexcept\b|\bintersect\b|\bincludes\b|included in/.test(text),
  },
  {
    name: 'offset',
    right: 'ours',
    why: 'A time without milliseconds has an offset, too (D, Date and time); the reference engine does not write it.',
    applies: ({ ours, reference }) => ours.replace(/[+-]\d\d:\d\d$/, '') === reference,
  },
  {
    name: 'units',
    right: 'ours',
    why: 'Amounts in different units are converted or do not combine, and products have the unit of the product (D, Quantity operators); the reference engine, as it is installed, keeps the first unit.',
    applies: ({ text }) => UNIT.test(text),
  },
  {
    name: 'written otherwise',
    right: 'both',
    why: 'The same interval by other boundaries, open or closed, null or the extreme of the type; or another of the values that are equally frequent (R, Mode).',
    applies: ({ text, ours, reference }) => text.includes('Mode(') || (/Interval[[(]/.test(ours) && /Interval[[(]/.test(reference)),
  },
]

/** Whether two answers are the same value, in any notation. Two refusals are equal. */
export function alike(one: string, other: string): boolean {
  return normal(one) === normal(other)
}

function normal(text: string): string {
  if (text.startsWith('ERROR')) return 'ERROR'
  const plain = text.replaceAll('+00:00', '').replaceAll(/(\.\d*?[1-9])0+\b|\.0+\b/g, '$1')
  return plain.replaceAll(/\b(year|month|week|day|hour|minute|second|millisecond)s\b/g, '$1').replaceAll(/-0\b(?!\.)/g, '0')
}

function fewDigits(text: string): string {
  return text.replaceAll(/\b\d{1,30}\.\d{1,80}/g, (digits) => Number(digits).toPrecision(4)).replaceAll(/'[^']*'/g, '')
}
