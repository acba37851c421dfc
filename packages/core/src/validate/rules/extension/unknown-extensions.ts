import type { Finding } from '../../run/finding.js'

/** Extensions whose definition is not loaded, and that are not errors. */
interface Exemption {
  readonly urls: RegExp
  /** `undefined` for what is not reported. */
  readonly severity: Finding['severity'] | undefined
}

/**
 * Extensions that need no definition. FHIR lets a resource have extensions that its reader does not know ("Extensions ... SHALL NOT cause an
 * application to fail", https://hl7.org/fhir/R4/extensibility.html), so it is HL7's validator that makes unknown ones errors; these rows are its
 * exceptions, and those that R4's own examples need. A host that wants them reported adds a rule on `Extension`.
 */
const EXEMPTIONS: readonly Exemption[] = [
  // Hosts for examples, and DICOM's: HL7's validator allows their extensions whether they are defined or not, and R4's examples use them.
  { urls: /^https?:\/\/(?:[a-z0-9.-]+\.)?(?:example\.org|acme\.com|nema\.org)(?:\/|$)/, severity: undefined },
  // What the tools write that publish FHIR; HL7's validator allows it. Its definitions are in a package of its own that definitions do not depend on.
  { urls: /^https?:\/\/hl7\.org\/fhir\/tools\//, severity: undefined },
  // Elements of other releases: they follow from those releases (https://hl7.org/fhir/R4/versions.html#extensions) and are not published one by one.
  {
    urls: /^http:\/\/hl7\.org\/fhir\/(?:1\.[0-8]|3\.[0-6]|4\.[0-6]|5\.0|6\.0)\/StructureDefinition\/extension-[A-Z][A-Za-z]+\.[a-z]/,
    severity: undefined,
  },
  // R4's own examples use extensions of US Core, whose definitions R4 does not include.
  { urls: /^http:\/\/hl7\.org\/fhir\/us\/core\//, severity: 'warning' },
]

/** How an extension is reported that has no definition; `undefined` when it is not. */
export function unknownSeverity(url: string): Finding['severity'] | undefined {
  const exemption = EXEMPTIONS.find(({ urls }) => urls.test(url))
  return exemption === undefined ? 'error' : exemption.severity
}
