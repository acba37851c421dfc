package dev.fhirops.oracle;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import java.util.ArrayList;
import java.util.List;
import org.hl7.fhir.r5.elementmodel.Manager.FhirFormat;

/**
 * What is asked about one resource.
 *
 * @param id repeated in the answer
 * @param text the resource, byte for byte
 * @param format of the text
 * @param profiles canonicals to validate against, besides those that the resource claims
 * @param definitions texts of resources that are known for this request only
 * @param options settings of the validator by name; empty for its defaults
 */
public record Request(String id, String text, FhirFormat format, List<String> profiles, List<String> definitions, JsonObject options) {
  static Request ofText(String id, String text) {
    return new Request(id, text, FhirFormat.JSON, List.of(), List.of(), new JsonObject());
  }

  static Request of(JsonObject json, int number) {
    String id = json.has("id") ? json.get("id").getAsString() : String.valueOf(number);
    String text = json.has("text") ? json.get("text").getAsString() : json.get("resource").toString();
    boolean isXml = json.has("format") && json.get("format").getAsString().equals("xml");
    List<String> profiles = new ArrayList<>();
    for (JsonElement profile : listAt(json, "profiles")) {
      profiles.add(profile.getAsString());
    }
    List<String> definitions = new ArrayList<>();
    for (JsonElement definition : listAt(json, "definitions")) {
      definitions.add(definition.toString());
    }
    return new Request(id, text, isXml ? FhirFormat.XML : FhirFormat.JSON, profiles, definitions, json.has("options") ? json.getAsJsonObject("options") : new JsonObject());
  }

  private static JsonArray listAt(JsonObject json, String name) {
    return json.has(name) ? json.getAsJsonArray(name) : new JsonArray();
  }
}
