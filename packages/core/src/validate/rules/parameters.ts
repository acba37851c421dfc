import { quoted } from '../../errors/index.js'
import type { FhirNode } from '../../fhirpath/index.js'
import { defineFinding, type FindingDefinition } from '../run/finding.js'
import { childrenOf, textOf } from '../run/nodes.js'
import type { ResourceRule, Run } from '../run/run.js'

const PARAMETER_TYPE: FindingDefinition = defineFinding(
  'parameter-type',
  'information',
  'business-rule',
  'Check that the parameter is meant: operations of FHIR have one of that name with another type.',
)

/** Parameters with names that FHIR's operations use. */
export const parametersRule: ResourceRule = {
  on: ['Parameters'],
  finds: [PARAMETER_TYPE],
  check: checkParameters,
}

/** The types of the parameters of R4's operations, by name, without parameters that have parts. */
const STANDARD: ReadonlyMap<string, readonly string[]> = new Map(
  (
    '_count:integer _since:instant _type:code abstract:boolean account:Reference activeOnly:boolean ' +
    'activityDefinition:ActivityDefinition async:boolean chargeItem:Reference check-system-version:canonical client:canonical ' +
    'code:code|string codeA:code codeB:code codeSystem:CodeSystem codeableConcept:CodeableConcept coding:Coding codingA:Coding ' +
    'codingB:Coding compositional:boolean concept:Coding conceptMap:ConceptMap conceptMapVersion:string content:Bundle|Resource ' +
    'context:uri contextDirection:code count:integer date:dateTime default:code definition:StructureDefinition display:string ' +
    'displayLanguage:code duration:decimal encounter:string end:date exact:boolean exclude-system:canonical excludeNested:boolean ' +
    'excludeNotForUI:boolean excludePostCoordinated:boolean filter:string force-system-version:canonical graph:uri id:string|uri ' +
    'identifier:canonical include:boolean includeDefinition:boolean includeDesignations:boolean input:Resource ' +
    'intersection:CapabilityStatement issues:OperationOutcome lastReceivedOn:dateTime left:canonical limit:positiveInt local:Reference ' +
    'max:positiveInt measure:string measureReport:MeasureReport message:string meta:Meta mode:code name:code|string offset:integer ' +
    'onlyCertainMatches:boolean organization:string outcome:code output:Resource patient:id period:Period periodEnd:date ' +
    'periodStart:date persist:boolean planDefinition:PlanDefinition practitioner:string profile:string|uri query:string reportType:code ' +
    'resource:CapabilityStatement|Resource|code response-url:url result:Binary|Bundle|boolean|string ' +
    'return:Bundle|CapabilityStatement|CarePlan|ConceptMap|Library|MeasureReport|Meta|OperationOutcome|Questionnaire|QuestionnaireResponse|Resource|StructureDefinition|ValueSet ' +
    'reverse:boolean right:canonical server:canonical|uri setting:CodeableConcept settingContext:CodeableConcept source:Observation|uri ' +
    'start:date statistic:code statistics:Observation subject:Reference|string|uri supportedOnly:boolean system:uri ' +
    'system-version:canonical systemVersion:string target:string|uri targetsystem:uri topic:string type:code union:CapabilityStatement ' +
    'url:canonical|string|uri userLanguage:CodeableConcept userTaskContext:CodeableConcept userType:CodeableConcept valueSet:ValueSet ' +
    'valueSetVersion:string version:code|string'
  )
    .split(' ')
    .map((entry): [string, readonly string[]] => {
      const [name = '', types = ''] = entry.split(':')
      return [name, types.split('|')]
    }),
)

/** Reports parameters that have the name of a parameter of FHIR's operations, but another type. */
async function checkParameters(run: Run, node: FhirNode): Promise<void> {
  for (const parameter of childrenOf(run, node, 'parameter')) {
    await run.scheduler.turn()
    const name = textOf(parameter, 'name') ?? ''
    const types = STANDARD.get(name)
    const problem = types === undefined ? undefined : problemOf(run, parameter, types)
    if (problem !== undefined)
      run.findings.report(PARAMETER_TYPE, parameter, { text: `In FHIR's operations the parameter ${quoted(name)} ${problem}.` })
  }
}

function problemOf(run: Run, parameter: FhirNode, types: readonly string[]): string | undefined {
  const [value] = childrenOf(run, parameter, 'value')
  const [resource] = childrenOf(run, parameter, 'resource')
  const resources = types.filter((type) => run.model.type(type)?.kind === 'resource')
  const values = types.filter((type) => !resources.includes(type))
  if (value !== undefined) {
    if (values.length === 0) return 'has a resource, not a value'
    return values.includes(value.type.name) ? undefined : `has the type ${values.join(' or ')}, not ${value.type.name}`
  }
  if (resource === undefined || resources.length === 0) return values.length > 0 ? 'has a value' : 'has a resource'
  return resources.includes('Resource') || resources.includes(resource.type.name)
    ? undefined
    : `is a resource of the type ${resources.join(' or ')}, not ${resource.type.name}`
}
