/**
 * Expressions that R4 publishes with a mistake, and their corrections. The expression decides, not the key, because keys are not unique and
 * profiles inherit the mistakes.
 */
const CORRECTIONS: ReadonlyMap<string, string> = new Map([
  // bdl-8: an entry need not have a fullUrl.
  ["fullUrl.contains('/_history/').not()", "fullUrl.exists() implies fullUrl.contains('/_history/').not()"],
  // xxx-0: a definition need not have a name, and the whole name must match.
  ["name.matches('[A-Z]([A-Za-z0-9_]){0,254}')", "name.exists() implies name.matches('^[A-Z]([A-Za-z0-9_]){0,254}$')"],
  // ras-2: operators bind differently from what is meant, and a prediction need not have a probability.
  ...[
    'probability is decimal implies (probability as decimal) <= 100',
    'probability is decimal implies probability.as(decimal) <= 100',
  ].map((published): [string, string] => [
    published,
    '(probability.exists() and (probability is decimal)) implies ((probability as decimal) <= 100)',
  ]),
  // pd-1 of profiles, and others like it: a collection of several items is neither true nor false.
  ['telecom or endpoint', 'telecom.exists() or endpoint.exists()'],
  [
    '(component.empty() and hasMember.empty()) implies (dataAbsentReason or value)',
    '(component.empty() and hasMember.empty()) implies (dataAbsentReason.exists() or value.exists())',
  ],
  [
    '(component.empty() and related.empty()) implies (dataAbsentReason or value)',
    '(component.empty() and related.empty()) implies (dataAbsentReason.exists() or value.exists())',
  ],
  [
    "(code or value.empty()) and (system.empty() or system = 'urn:iso:std:iso:4217')",
    "(code.exists() or value.empty()) and (system.empty() or system = 'urn:iso:std:iso:4217')",
  ],
  [
    '(code or value.empty()) and (system.empty() or system = %ucum) and (value.empty() or value > 0)',
    '(code.exists() or value.empty()) and (system.empty() or system = %ucum) and (value.empty() or value > 0)',
  ],
  ['value.empty() or code!=component.code', 'value.empty() or (code in component.code).not()'],
  ['isModifier implies isModifierReason.exists()', '(isModifier.exists() and isModifier) implies isModifierReason.exists()'],
  ["searchType implies type = 'string'", "searchType.exists() implies type = 'string'"],
  ['element.all(definition and min and max)', 'element.all(definition.exists() and min.exists() and max.exists())'],
  ...['differential', 'snapshot'].map((part): [string, string] => [
    `${part}.element.all(id) and ${part}.element.id.trace('ids').isDistinct()`,
    `${part}.element.all(id.exists()) and ${part}.element.id.trace('ids').isDistinct()`,
  ]),
  [
    "abatement.empty() or (abatement as boolean).not()  or clinicalStatus='resolved' or clinicalStatus='remission' or clinicalStatus='inactive'",
    "abatement.empty() or (abatement is boolean).not() or (abatement as boolean).not() or (clinicalStatus in ('resolved' | 'remission' | 'inactive'))",
  ],
  // Names of elements and codes that do not exist.
  ["generated='generated' implies source.empty()", "generation='generated' implies source.empty()"],
  ["url.matches('([^|#])*')", "$this.matches('^([^|#])*$')"],
  [
    "((kind in 'resource' | 'complex-type') and (specialization = 'derivation')) implies differential.element.where((min != 0 and min != 1) or (max != '1' and max != '*')).empty()",
    "((kind in ('resource' | 'complex-type')) and (derivation = 'specialization')) implies differential.element.where((min.exists() and min != 0 and min != 1) or (max.exists() and max != '1' and max != '*')).empty()",
  ],
  // sdf-8a of drafts: negates elements instead of testing that there are none.
  [
    "(%resource.kind = 'logical' or element.first().path.startsWith(%resource.type)) and (element.tail().not() or  element.tail().all(path.startsWith(%resource.differential.element.first().path.replaceMatches('\\\\..*','')&'.')))",
    "(%resource.kind = 'logical' or element.first().path.startsWith(%resource.type)) and (element.tail().empty() or element.tail().all(path.startsWith(%resource.differential.element.first().path.replaceMatches('\\\\..*','')&'.')))",
  ],
  // eld-19 and eld-20: the whole path must match.
  ...[
    String.raw`[^\\s\\.,:;\\\'"\\/|?!@#$%&*()\\[\\]{}]{1,64}(\\.[^\\s\\.,:;\\\'"\\/|?!@#$%&*()\\[\\]{}]{1,64}(\\[x\\])?(\\:[^\\s\\.]+)?)*`,
    String.raw`[A-Za-z][A-Za-z0-9]*(\\.[a-z][A-Za-z0-9]*(\\[x])?)*`,
  ].map((whole): [string, string] => [`path.matches('${whole}')`, `path.matches('^${whole}$')`]),
  // que-7: the answer is a FHIR boolean, not one of FHIRPath.
  ["operator = 'exists' implies (answer is Boolean)", "operator = 'exists' implies (answer is boolean)"],
  // que-12: two conditions are several already.
  ['enableWhen.count() > 2 implies enableBehavior.exists()', 'enableWhen.count() >= 2 implies enableBehavior.exists()'],
  // con-3: compares concepts with a code.
  [
    "clinicalStatus.exists() or verificationStatus.coding.where(system='http://terminology.hl7.org/CodeSystem/condition-ver-status' and code = 'entered-in-error').exists() or category.select($this='problem-list-item').empty()",
    "clinicalStatus.exists() or verificationStatus.coding.where(system='http://terminology.hl7.org/CodeSystem/condition-ver-status' and code = 'entered-in-error').exists() or category.coding.where(code='problem-list-item').empty()",
  ],
  // vs-1: precision is required of a dateTime, not of a Period.
  ['($this as dateTime).toString().length() >= 8', '($this is dateTime) implies (($this as dateTime).toString().length() >= 8)'],
  // opd-3: a parameter that is a resource can have a profile, too.
  [
    "targetProfile.exists() implies (type = 'Reference' or type = 'canonical')",
    "targetProfile.exists() implies (type = 'Reference' or type = 'canonical' or type.memberOf('http://hl7.org/fhir/ValueSet/resource-types'))",
  ],
  // Of extensions that say how often an item is answered: elements have no names such as valueInteger.
  ...[['required', 'min', 0] as const, ['repeats', 'max', 1] as const].map(([member, limit, value]): [string, string] => [
    `type!='display' and (${member}=true or %extension.valueInteger=${value})`,
    `type!='display' and (${member}=true or extension('http://hl7.org/fhir/StructureDefinition/questionnaire-${limit}Occurs').value=${value})`,
  ]),
  // tim-9: `in` takes one item, and there may be several.
  [
    "offset.empty() or (when.exists() and ((when in ('C' | 'CM' | 'CD' | 'CV')).not()))",
    "offset.empty() or (when.exists() and when.where($this in ('C' | 'CM' | 'CD' | 'CV')).empty())",
  ],
])

/** The expression to evaluate instead of a published one. */
export function corrected(expression: string): string {
  return CORRECTIONS.get(expression) ?? expression
}

/**
 * R4 requires the units of vital signs for every component, even for oxygen flow, whose unit is not among them. HL7's validator accepts other units,
 * and the profiles fix the units of the components that they know.
 */
const NOT_REQUIRED: ReadonlySet<string> = new Set(['http://hl7.org/fhir/ValueSet/ucum-vitals-common|4.0.1'])

/** The binding strength to use instead of the published one. */
export function correctedStrength(strength: string | undefined, valueSet: string | undefined): string | undefined {
  return valueSet !== undefined && NOT_REQUIRED.has(valueSet) ? 'extensible' : strength
}
