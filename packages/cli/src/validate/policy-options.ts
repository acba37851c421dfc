import { InvalidArgumentError, Option, type Command } from 'commander'
import type { RuleSeverity, ValidationPolicy } from 'fhir-ops/internal/context'
import type { BundleRule } from 'fhir-ops/validate'
import { repeated } from '../commands/options.js'
import { FINDING_LEVELS, levelOption } from './reports.js'
import type { Asked } from './check-in-order.js'

/** The options of commands that validate, which set the inputs of the same name of `validate`. */
export interface PolicyOptions extends Omit<ValidationPolicy, 'suppress' | 'rules' | 'extensionDomains'> {
  readonly profile?: readonly string[]
  readonly bundle?: readonly BundleRule[]
  readonly rule?: readonly (readonly [kind: string, severity: RuleSeverity])[]
  readonly extensionDomain?: readonly string[]
}

/** Adds the options to a command. */
export function withPolicyOptions(command: Command): Command {
  for (const option of policyOptions()) command.addOption(option)
  return command
}

const REFUSALS: readonly string[] = ['markup', 'markdown', 'examples', 'experimental']
const SEVERITIES: readonly RuleSeverity[] = ['off', 'information', 'warning', 'error']

function policyOptions(): readonly Option[] {
  return [
    new Option('--profile <canonical>', 'profile to validate against, repeatable').argParser(repeated),
    new Option(
      '--bundle <rule=profile>',
      'profile for entries of Bundles: Patient=URL for each Patient, Patient:0=URL for the first, 2=URL for the third entry; repeatable',
    ).argParser(bundleRule),
    levelOption(),
    new Option('--best-practice <severity>', 'report violations of best practices, as this severity').choices(FINDING_LEVELS),
    new Option('--must-support <report>', 'report content that no profile marks as mustSupport; all: also list what is marked').choices([
      'unmarked',
      'all',
    ]),
    new Option('--resource-id <rule>', 'whether each resource must have an id').choices(['optional', 'required', 'prohibited']),
    new Option('--refuse <content>', `report as errors: ${REFUSALS.join(', ')}; repeatable`).argParser(refusal),
    new Option('--rule <kind=severity>', `severity of a kind of findings, such as invariant=off; repeatable`).argParser(rule),
    new Option('--validate-references <check>', 'whether stored targets of references must exist, or conform to a profile').choices([
      'exists',
      'profile',
    ]),
    new Option('--assume-valid-rest-references', 'take the type from absolute URLs in references'),
    new Option('--allow-comments', 'allow comments in JSON'),
    new Option('--questionnaire <mode>', 'how responses are checked against their questionnaires').choices(['off', 'check', 'required']),
    new Option('--no-extensible-binding-warnings', 'do not report codes outside of extensible value sets'),
    new Option('--wrong-displays <severity>', 'severity of displays that are none of the code').choices(['error', 'warning']),
    new Option('--no-enforce-aggregation-outside-bundles', 'check aggregation in Bundles only'),
    new Option('--for-publication', 'report what definitions lack that are to be published'),
    new Option('--no-validate-contained', 'do not validate contained resources'),
    new Option('--extension-domain <prefix>', 'start of URLs of extensions that need no definition, repeatable').argParser(repeated),
    new Option('--vital-signs <by>', 'which Observations are vital signs').choices(['category', 'code']),
  ]
}

/** What the options ask of each validation. */
export function askedBy({ profile, rule: rules, extensionDomain, ...options }: PolicyOptions): Asked {
  const { bundle, level, bestPractice, mustSupport, resourceId, refuse, validateReferences, questionnaire, wrongDisplays, vitalSigns } =
    options
  const { assumeValidRestReferences, allowComments, extensibleBindingWarnings, forPublication, validateContained } = options
  return {
    profiles: profile,
    bundle,
    level,
    bestPractice,
    mustSupport,
    resourceId,
    refuse,
    validateReferences,
    questionnaire,
    wrongDisplays,
    vitalSigns,
    assumeValidRestReferences,
    allowComments,
    extensibleBindingWarnings,
    enforceAggregationOutsideBundles: options.enforceAggregationOutsideBundles,
    forPublication,
    validateContained,
    extensionDomains: extensionDomain,
    ...(rules !== undefined && { rules: Object.fromEntries(rules) }),
  }
}

function bundleRule(text: string, before: readonly BundleRule[] | undefined): readonly BundleRule[] {
  const [selecting, profile] = pairIn(text, 'Patient:0=https://example.org/StructureDefinition/patient')
  return [...(before ?? []), { rule: selecting, profile }]
}

function rule(text: string, before: PolicyOptions['rule']): NonNullable<PolicyOptions['rule']> {
  const [kind, severity] = pairIn(text, 'invariant=off')
  const known = SEVERITIES.find((one) => one === severity)
  if (known === undefined) throw new InvalidArgumentError(`The severity must be one of ${SEVERITIES.join(', ')}.`)
  const other = before?.find(([name]) => name === kind)?.[1] ?? known
  if (other !== known) throw new InvalidArgumentError(`There are both ${other} and ${known} for ${kind}.`)
  return [...(before ?? []), [kind, known]]
}

function refusal(text: string, before: readonly string[] | undefined): readonly string[] {
  if (!REFUSALS.includes(text)) throw new InvalidArgumentError(`Allowed choices are ${REFUSALS.join(', ')}.`)
  return [...(before ?? []), text]
}

function pairIn(text: string, example: string): readonly [string, string] {
  const end = text.indexOf('=')
  if (end > 0 && end < text.length - 1) return [text.slice(0, end), text.slice(end + 1)]
  throw new InvalidArgumentError(`It must be like ${example}.`)
}

/** What there is instead of options of the command line of HL7's validator, in lower case without hyphens. */
const OF_HL7: ReadonlyMap<string, string> = new Map(
  Object.entries({
    'version sv': 'the release is always R4',
    'ig defn': '--load FILE',
    profiles: '--profile, once for each',
    'output o': '--format json > FILE',
    htmloutput: '--format html > FILE',
    outputstyle: '--format; there are json, sarif, html, junit, github',
    hintaboutnonmustsupport: '--must-support unmarked',
    resourceidrule: '--resource-id',
    bundle: '--bundle RULE=PROFILE',
    extension: '--extension-domain PREFIX',
    securitychecks: '--refuse markup',
    htmlinmarkdown: '--refuse markdown for error, --rule markdown-html=off for ignore',
    noexperimentalcontent: '--refuse experimental',
    allowexampleurls: '--refuse examples where they are not allowed',
    noinvariants: '--rule invariant=off',
    unknowncodesystemscauseerrors: '--rule code-system-unknown=error',
    nounicodebidicontrolchars: '--rule string-control=error',
    displayissuesarewarnings: '--wrong-displays warning',
    checkreferences: '--validate-references exists',
    advisorfile: '--suppress FILE, with reasons and expiry dates, or --rule KIND=off',
    'watchmode watchscandelay watchsettletime': '--watch',
    recurse: 'folders are always read with their subfolders',
    'tx txserver': 'no server is asked; see fhir-ops import, and --storage http:URL',
    sct: 'the edition that fhir-ops import snomed has stored',
    'txlog txcache cleartxcache txrouting': 'no server is asked, so there is nothing to log or keep',
    showmessageids: 'each finding states its kind',
    verbose: 'a call of $validate with _explain=true',
    native: 'fhir-ops schema gives a JSON Schema',
    cert: 'keys are taken from the certificate in the signature',
    snapshot: 'fhir-ops snapshot',
    compare: 'fhir-ops compare',
    'jurisdiction language locale lang expansionparameters checkipscodes checkdisplay debug dodebug': 'there is none',
    validationtimeout: 'one minute for each resource',
  }).flatMap(([names, instead]) => names.split(' ').map((name) => [name, instead] as const)),
)

/** A sentence on what there is instead of the first argument that is an option of HL7's validator, which have one hyphen; `undefined` if there is none. */
export function insteadOfOption(args: readonly string[], options: readonly Option[]): string | undefined {
  for (const arg of args) {
    if (!/^--?[A-Za-z]/.test(arg)) continue
    const name = plain(arg)
    const own = options.find(({ long }) => plain(long ?? '') === name)?.long
    if (own === arg) continue
    const other = OF_HL7.get(name)
    const instead = own === undefined || other?.startsWith(own) === true ? other : own
    if (instead !== undefined) return `For ${arg} of HL7's validator: ${instead}.`
  }
  return undefined
}

function plain(option: string): string {
  return option.toLowerCase().replaceAll(/[-_]/g, '')
}
