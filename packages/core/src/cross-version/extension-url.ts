/** An element of a release that another one has as an extension. */
export interface ExtensionElement {
  /** `5.0` */
  readonly release: string
  /** `Appointment` */
  readonly type: string
  /** `Appointment.status` */
  readonly path: string
}

const URL_FORM = /^http:\/\/hl7\.org\/fhir\/(\d+\.\d+)\/StructureDefinition\/extension-(([A-Za-z][A-Za-z0-9]*)(?:\.[A-Za-z0-9[\]]+)+)$/

/**
 * The element that the url of an extension means; `undefined` for other urls.
 *
 * @see https://hl7.org/fhir/R4/versions.html#extensions
 */
export function extensionElement(url: string): ExtensionElement | undefined {
  const [whole, release = '', path = '', type = ''] = URL_FORM.exec(url) ?? []
  return whole === undefined ? undefined : { release, type, path }
}
