import { readStrictJson, readStrictValue, type JsonObject } from 'fhir-ops/internal/json'
import type { Work } from 'fhir-ops/internal/work'

/** Bounds on a JSON body. */
export interface JsonLimits {
  readonly jsonDepth: number
  /** Members of all objects together; as many lists, and values in lists. */
  readonly jsonMembers: number
  /** Characters of one string; base64 content is exempt. */
  readonly stringLength: number
}

/** Parses a JSON body that must be an object. @param text Decoded UTF-8. @throws {OperationError} as `readStrictJson`. */
export function readingJsonBody(text: string, { jsonDepth, jsonMembers, stringLength }: JsonLimits): Work<JsonObject> {
  return readStrictJson(text, { maxDepth: jsonDepth, maxMembers: jsonMembers, maxString: stringLength, places: true })
}

/** As `readingJsonBody`, for a body that may be a list, too: a patch. @param name What errors call the text. */
export function readingJsonValue(text: string, { jsonDepth, jsonMembers, stringLength }: JsonLimits, name?: string): Work<unknown> {
  return readStrictValue(text, {
    maxDepth: jsonDepth,
    maxMembers: jsonMembers,
    maxString: stringLength,
    places: true,
    ...(name !== undefined && { name }),
  })
}
