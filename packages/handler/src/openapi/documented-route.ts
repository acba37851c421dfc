import type { Route } from '../exchange.js'
import type { DefinedOperation } from './operation-definition.js'
import type { PathPlace } from './paths.js'

/** A route at a path, with what else the document says of it. */
export interface DocumentedRoute {
  readonly place: PathPlace
  readonly route: Route
  readonly name: string
  /** Absent for what is not an operation, and for an operation whose definition is not there. */
  readonly defined: DefinedOperation | undefined
  readonly isOpen: boolean
}
