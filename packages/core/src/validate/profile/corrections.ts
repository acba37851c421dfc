/**
 * Expressions that R4 publishes with a mistake, with what is right instead. The expression decides, not the key, because keys are not unique and
 * profiles inherit the mistakes.
 */
const CORRECTIONS: ReadonlyMap<string, string> = new Map([
  // bdl-8: an entry need not have a fullUrl.
  ["fullUrl.contains('/_history/').not()", "fullUrl.exists() implies fullUrl.contains('/_history/').not()"],
  // xxx-0: a definition need not have a name, and the whole name must match.
  ["name.matches('[A-Z]([A-Za-z0-9_]){0,254}')", "name.exists() implies name.matches('^[A-Z]([A-Za-z0-9_]){0,254}$')"],
  // ras-2: binds the other way round than it is meant.
  ['probability is decimal implies (probability as decimal) <= 100', '(probability is decimal) implies ((probability as decimal) <= 100)'],
  // que-7: the answer is a FHIR boolean, not one of FHIRPath.
  ["operator = 'exists' implies (answer is Boolean)", "operator = 'exists' implies (answer is boolean)"],
  // que-12: two are several already.
  ['enableWhen.count() > 2 implies enableBehavior.exists()', 'enableWhen.count() >= 2 implies enableBehavior.exists()'],
  // con-3: compares concepts with a code.
  [
    "clinicalStatus.exists() or verificationStatus.coding.where(system='http://terminology.hl7.org/CodeSystem/condition-ver-status' and code = 'entered-in-error').exists() or category.select($this='problem-list-item').empty()",
    "clinicalStatus.exists() or verificationStatus.coding.where(system='http://terminology.hl7.org/CodeSystem/condition-ver-status' and code = 'entered-in-error').exists() or category.coding.where(code='problem-list-item').empty()",
  ],
  // vs-1: a period has no day to be precise to.
  ['($this as dateTime).toString().length() >= 8', '($this is dateTime) implies (($this as dateTime).toString().length() >= 8)'],
  // opd-3: a parameter that is a resource can have a profile, too.
  [
    "targetProfile.exists() implies (type = 'Reference' or type = 'canonical')",
    "targetProfile.exists() implies (type = 'Reference' or type = 'canonical' or type.memberOf('http://hl7.org/fhir/ValueSet/resource-types'))",
  ],
  // tim-9: `in` takes one item, and there may be several.
  [
    "offset.empty() or (when.exists() and ((when in ('C' | 'CM' | 'CD' | 'CV')).not()))",
    "offset.empty() or (when.exists() and when.where($this in ('C' | 'CM' | 'CD' | 'CV')).empty())",
  ],
])

/** The expression to evaluate in place of a published one. */
export function corrected(expression: string): string {
  return CORRECTIONS.get(expression) ?? expression
}

/**
 * R4 requires the units of vital signs for every component, the flow of oxygen too, which has none of them. HL7's validator lets others be used,
 * and the profiles fix the units of what they know.
 */
const NOT_REQUIRED: ReadonlySet<string> = new Set(['http://hl7.org/fhir/ValueSet/ucum-vitals-common|4.0.1'])

/** The strength to take in place of a published one. */
export function correctedStrength(strength: string | undefined, valueSet: string | undefined): string | undefined {
  return valueSet !== undefined && NOT_REQUIRED.has(valueSet) ? 'extensible' : strength
}
