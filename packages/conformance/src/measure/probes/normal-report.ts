import { isObject, objectAt, objectsAt, stringAt, type JsonObject } from 'fhir-ops/internal/json'

/** The content of a report in normalized lines: counts, scores, strata, members, supplemental data. */
export function normalReport(report: JsonObject): readonly string[] {
  if (report['error'] !== undefined || report['resourceType'] !== 'MeasureReport') return ['refused']
  if (report['status'] === 'error') return ['failed']
  return [...objectsAt(report, 'group').flatMap((group, at) => groupLines(group, `group ${at + 1}`, report)), ...supplementLines(report)]
}

function groupLines(group: JsonObject, place: string, report: JsonObject): readonly string[] {
  const strata = objectsAt(group, 'stratifier').flatMap((stratifier, at) =>
    objectsAt(stratifier, 'stratum')
      .filter((stratum) => objectsAt(stratum, 'population').some((population) => countOf(population) > 0))
      .flatMap((stratum) => countLines(stratum, `${place} stratifier ${at + 1} [${stratumName(stratum)}]`, report)),
  )
  return [...countLines(group, place, report), ...strata.toSorted()]
}

function countLines(counted: JsonObject, place: string, report: JsonObject): readonly string[] {
  const populations = objectsAt(counted, 'population').map((population) => {
    const list = membersOf(population, report)
    return `${place} ${codeOf(population)}: ${countOf(population)}${list === undefined || list.length === 0 ? '' : ` {${list.join(' ')}}`}`
  })
  const score = objectAt(counted, 'measureScore')?.['value']
  return typeof score === 'number' ? [...populations, `${place} score: ${Number(score.toPrecision(8))}`] : populations
}

function countOf({ count }: JsonObject): number {
  return typeof count === 'number' ? count : 0
}

function codeOf(population: JsonObject): string {
  return stringAt(objectsAt(objectAt(population, 'code'), 'coding')[0], 'code') ?? ''
}

/** Members of a population, from a list contained in the report. */
function membersOf(population: JsonObject, report: JsonObject): readonly string[] | undefined {
  const reference = stringAt(objectAt(population, 'subjectResults'), 'reference')?.replace('#', '')
  if (reference === undefined) return undefined
  const list = objectsAt(report, 'contained').find((contained) => stringAt(contained, 'id') === reference)
  return objectsAt(list, 'entry')
    .flatMap((entry) => stringAt(objectAt(entry, 'item'), 'reference') ?? [])
    .toSorted()
}

function stratumName(stratum: JsonObject): string {
  const components = objectsAt(stratum, 'component')
  const values = components.length > 0 ? components.map((component) => objectAt(component, 'value')) : [objectAt(stratum, 'value')]
  return values
    .map(valueText)
    .filter((text) => text !== 'null')
    .toSorted()
    .join(', ')
}

function valueText(concept: JsonObject | undefined): string {
  const coding = objectsAt(concept, 'coding')[0]
  return stringAt(coding, 'code') ?? stringAt(concept, 'text') ?? ''
}

function supplementLines(report: JsonObject): readonly string[] {
  const observations = objectsAt(report, 'contained').filter(({ resourceType }) => resourceType === 'Observation')
  return observations
    .map((observation) => {
      const value = Object.entries(observation).find(([name]) => name.startsWith('value'))?.[1]
      return `supplement ${report['type'] === 'individual' ? '' : valueText(objectAt(observation, 'code'))} ${isObject(value) ? valueText(value) : String(value)}`
    })
    .toSorted()
}
