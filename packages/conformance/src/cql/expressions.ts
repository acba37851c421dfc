import { randomOf, type Random } from '../fuzz/random.js'

/** An expression of CQL without data, and its type. */
interface RandomExpression {
  readonly type: string
  readonly text: string
}

/** Literals of the simple types: ordinary ones, and edge cases of operators. */
const LITERALS: Readonly<Record<string, readonly string[]>> = {
  Boolean: ['true', 'false'],
  Integer: ['0', '1', '2', '3', '5', '7', '10', '-1', '-4', '13', '2147483647', '-2147483648'],
  Long: ['0L', '1L', '5L', '-3L', '100L', '9223372036854775807L'],
  Decimal: ['0.0', '1.0', '1.5', '2.25', '-0.5', '-2.5', '3.14159', '100.0', '0.00000001', '1.10', '99999999999999999999.99999999'],
  String: ["''", "'a'", "'abc'", "'A b'", "'abcabc'", "' x '", "'1'", "'1.5'", "'2014-01-01'", "'ü'", "'a,b,c'"],
  Date: ['@2014', '@2014-02', '@2014-02-28', '@2012-02-29', '@2013-12-31', '@2014-01-01', '@0001-01-01', '@9999-12-31', '@2014-12'],
  DateTime: [
    '@2014T',
    '@2014-02T',
    '@2014-02-28T',
    '@2012-02-29T10',
    '@2014-01-01T00:00',
    '@2014-01-01T23:59:59',
    '@2013-12-31T23:59:59.999',
    '@2014-01-01T10:30:00.000Z',
    '@2014-01-01T10:30:00.500+02:00',
    '@2014-01-01T02:00:00.000-05:00',
  ],
  Time: ['@T10', '@T10:30', '@T23:59:59.999', '@T00:00:00.000', '@T10:30:15', '@T12:00:00.5'],
  Quantity: [
    "1 'mg'",
    "2.5 'g'",
    "1000 'mg'",
    "0 'mg'",
    "-1 'cm'",
    '1 year',
    '12 months',
    "1 'a'",
    '3 days',
    '72 hours',
    "2.0 '1'",
    '1 week',
  ],
}

const POINTS = ['Integer', 'Long', 'Decimal', 'Date', 'DateTime', 'Time', 'Quantity']
const LISTED = ['Integer', 'String', 'Decimal', 'Date']

/** Operators by the type of their result. `#Type` is replaced by an expression of that type, `[a|b]` by one of the alternatives. */
const OPERATORS: Readonly<Record<string, readonly string[]>> = {
  Boolean: [
    '(#Boolean [and|or|xor|implies] #Boolean)',
    '(not #Boolean)',
    '(#Boolean is [true|false|not true|not false])',
    '[AllTrue|AnyTrue]({#Boolean, #Boolean})',
    '[StartsWith|EndsWith](#String, #String)',
    "Matches(#String, ['a.*'|'[a-z]+'|'^b'|'.*'])",
    'ConvertsTo[Integer|Decimal|Date|Boolean](#String)',
    ...['Integer', 'Long', 'Decimal', 'Date', 'DateTime', 'Time', 'Quantity', 'String'].flatMap((type) => [
      `(#${type} [=|!=|~|!~] #${type})`,
      `(#${type} [<|<=|>|>=] #${type})`,
      `(#${type} is null)`,
    ]),
    ...POINTS.flatMap((type) => [
      `(#Interval<${type}> [=|!=|~] #Interval<${type}>)`,
      `(#Interval<${type}> [overlaps|overlaps before|overlaps after|starts|ends|meets|meets before|meets after] #Interval<${type}>)`,
      `(#Interval<${type}> [included in|includes|properly includes|properly included in|before|after] #Interval<${type}>)`,
      `(#${type} [in|properly included in] #Interval<${type}>)`,
      `(#Interval<${type}> [contains|properly includes] #${type})`,
    ]),
    ...LISTED.flatMap((type) => [
      `(#List<${type}> [=|~|includes|included in|properly includes|properly included in] #List<${type}>)`,
      `(#${type} in #List<${type}>)`,
      `exists #List<${type}>`,
    ]),
    '(#Date [before|after] [year|month|day] of #Date)',
    '(#Date same [year|month|day] [as|or before|or after] #Date)',
    '(#DateTime [before|after] [year|month|day|hour|minute|second] of #DateTime)',
    '(#DateTime same [year|month|day|hour|minute|second|millisecond] [as|or before|or after] #DateTime)',
    '(#Time same [hour|minute|second] [as|or before|or after] #Time)',
    '(#Date during [year|month|day] of #Interval<Date>)',
    '(#Interval<DateTime> overlaps [year|month|day|hour] of #Interval<DateTime>)',
    '(#Interval<Date> included in [year|month|day] of #Interval<Date>)',
  ],
  Integer: [
    '(#Integer [+|-|*|div|mod|^] #Integer)',
    '(-#Integer)',
    'Abs(#Integer)',
    '[Ceiling|Floor|Truncate](#Decimal)',
    '([predecessor|successor] of #Integer)',
    'Length(#String)',
    '[PositionOf|LastPositionOf](#String, #String)',
    '([years|months|weeks|days] between #Date and #Date)',
    '(difference in [years|months|weeks|days] between #Date and #Date)',
    '([years|months|weeks|days|hours|minutes|seconds] between #DateTime and #DateTime)',
    '(difference in [years|months|weeks|days|hours|minutes|seconds] between #DateTime and #DateTime)',
    '([hours|minutes] between #Time and #Time)',
    '(difference in [hours|minutes|seconds] between #Time and #Time)',
    '([year|month|day] from #Date)',
    '([year|month|day|hour|minute|second|millisecond] from #DateTime)',
    '([hour|minute|second|millisecond] from #Time)',
    '[Count|Sum|Min|Max|Product|Mode](#List<Integer>)',
    '[First|Last](#List<Integer>)',
    '(#List<Integer>[[0|1|2]])',
    'IndexOf(#List<String>, #String)',
    '(singleton from #List<Integer>)',
    '([start|end|width] of #Interval<Integer>)',
    '(point from #Interval<Integer>)',
    'Coalesce(#Integer, #Integer)',
    '(if #Boolean then #Integer else #Integer)',
    '(case when #Boolean then #Integer else #Integer end)',
    'ToInteger(#String)',
    'Precision([#Decimal|#Date|#DateTime|#Time])',
  ],
  Long: [
    '(#Long [+|-|*|div|mod] #Long)',
    'ToLong([#Integer|#String])',
    'Abs(#Long)',
    '[Sum|Min|Max]({#Long, #Long})',
    '([start|end] of #Interval<Long>)',
  ],
  Decimal: [
    '(#Decimal [+|-|*|/|div|mod] #Decimal)',
    '(#Integer / #Integer)',
    'Round(#Decimal[|, 1|, 3])',
    'Abs(#Decimal)',
    '[Ln|Exp](#Decimal)',
    'Log(#Decimal, 10.0)',
    'Power(#Decimal, [2.0|-1.0|0.5|3.0])',
    '[Avg|Median|Sum|Min|Max|StdDev|Variance|PopulationStdDev|PopulationVariance|Mode|Product|GeometricMean](#List<Decimal>)',
    'ToDecimal([#String|#Integer])',
    '[LowBoundary|HighBoundary](#Decimal, [0|1|3|6|8])',
    '([predecessor|successor] of #Decimal)',
    '([start|end|width] of #Interval<Decimal>)',
    'Coalesce(#Decimal, #Decimal)',
    '(timezoneoffset from #DateTime)',
  ],
  String: [
    '(#String [+|&] #String)',
    '[Upper|Lower](#String)',
    'Substring(#String, [-1|0|1|3][|, 1|, 9])',
    "Combine(#List<String>[|, ','])",
    "First(Split(#String, ','))",
    "ReplaceMatches(#String, 'a', 'z')",
    'ToString([#Integer|#Decimal|#Boolean|#Date|#DateTime|#Time|#Quantity])',
    '[First|Last|Min|Max](#List<String>)',
    'Coalesce(#String, #String)',
    '(#String[[0|1|2]])',
  ],
  Date: [
    '(#Date [+|-] [1|2|5|13|29] [years|months|weeks|days])',
    'Date(2012, [1|2|6|12], [1|15|28])',
    '(date from #DateTime)',
    'ToDate(#String)',
    '([start|end] of #Interval<Date>)',
    '([predecessor|successor] of #Date)',
    '[Min|Max](#List<Date>)',
    '[LowBoundary|HighBoundary](#Date, [4|6|8])',
  ],
  DateTime: [
    '(#DateTime [+|-] [1|2|13|25|61|90] [years|months|weeks|days|hours|minutes|seconds|milliseconds])',
    'DateTime(2014, [1|2|12], [1|28][|, 10|, 10, 30, 0, 0|, 10, 30, 0, 0, 1.0])',
    'ToDateTime(#Date)',
    '([start|end] of #Interval<DateTime>)',
    '([predecessor|successor] of #DateTime)',
    '[LowBoundary|HighBoundary](#DateTime, [6|8|14|17])',
  ],
  Time: [
    '(#Time [+|-] [1|3|25|61] [hours|minutes|seconds|milliseconds])',
    'Time([0|10|23], [0|30|59])',
    '([start|end] of #Interval<Time>)',
    '([predecessor|successor] of #Time)',
  ],
  Quantity: [
    '(#Quantity [+|-|*|/] #Quantity)',
    '(#Decimal * #Quantity)',
    'Abs(#Quantity)',
    '(-#Quantity)',
    '[Sum|Min|Max|Avg|Median]({#Quantity, #Quantity})',
    "ToQuantity('[1|7|20].5 \\'mg\\'')",
    "convert #Quantity to 'g'",
    '([start|end] of #Interval<Quantity>)',
    '([predecessor|successor] of #Quantity)',
  ],
}

const SIMPLE = Object.keys(LITERALS)

const TYPES: readonly string[] = [
  ...SIMPLE,
  ...SIMPLE,
  'Boolean',
  'Boolean',
  ...POINTS.map((type) => `Interval<${type}>`),
  ...LISTED.map((type) => `List<${type}>`),
  'List<Interval<Integer>>',
  'List<Interval<Date>>',
]

/** Creates the expression with a number in a run. It is the same for the same seed and number. */
export function randomExpression(seed: number, number: number): RandomExpression {
  const random = randomOf(seed, number)
  const type = random.one(TYPES)
  return { type, text: expression(random, type, 1 + random.whole(3)) }
}

function expression(random: Random, type: string, depth: number): string {
  if (random.seldom(16)) return `(null as ${type})`
  const isLeaf = depth === 0 || random.seldom(8)
  const inner = type.slice(type.indexOf('<') + 1, -1)
  if (type.startsWith('Interval<')) return isLeaf ? intervalLiteral(random, inner) : filled(random, intervalOperator(random, type), depth)
  if (type.startsWith('List<')) return isLeaf ? listLiteral(random, inner) : filled(random, listOperator(random, type, inner), depth)
  return isLeaf ? random.one(LITERALS[type] ?? []) : filled(random, random.one(OPERATORS[type] ?? []), depth)
}

/** Replaces the placeholders of an operator by expressions and choices. */
function filled(random: Random, template: string, depth: number): string {
  const chosen = template.replaceAll(/\[([^[\]]+)\]/g, (whole, choices: string) =>
    choices.includes('|') ? random.one(choices.split('|')) : whole,
  )
  return chosen.replaceAll(/#([A-Z][A-Za-z<]*>*)/g, (_, type: string) => expression(random, type, depth - 1))
}

function intervalLiteral(random: Random, point: string): string {
  const end = (): string => (random.seldom(12) ? 'null' : random.one(LITERALS[point] ?? []))
  return `Interval${random.one(['[', '('])}${end()}, ${end()}${random.one([']', ')'])}`
}

function intervalOperator(random: Random, type: string): string {
  return random.one([`(#${type} [union|intersect|except] #${type})`, `First(collapse #List<${type}>)`])
}

function listLiteral(random: Random, item: string): string {
  const items = random.some(3, () => expression(random, item, 0))
  return items.length === 0 ? `(({}) as List<${item}>)` : `{${items.join(', ')}}`
}

function listOperator(random: Random, type: string, item: string): string {
  return random.one([
    `{#${item}, #${item}}`,
    `(#${type} [union|intersect|except] #${type})`,
    `(distinct #${type})`,
    `[Skip|Take](#${type}, [-1|0|1|2])`,
    `Tail(#${type})`,
    `(#${type} X where X [=|~|!=] #${item})`,
    `(flatten {#${type}, #${type}})`,
    item.startsWith('Interval<') ? `(collapse #${type})` : `(#${type} X sort [asc|desc])`,
    ...(item === 'Interval<Integer>' ? ["(expand { Interval[[-3|0|2], [4|5|6]] } per [1|2|3] '1')"] : []),
  ])
}
