package dev.fhirops.oracle;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;

/**
 * Reads lines with terminology and questions about it from the standard input and answers each with a line, by the classes that HL7's validator has for terminology.
 *
 * A line: {@code {"id", "resources": [...], "questions": [{"operation", "parameters"}]}}. Resources and Parameters are those of R4.
 */
public final class TerminologyOracle {
  private TerminologyOracle() {}

  public static void main(String[] args) throws Exception {
    PrintStream answers = new PrintStream(System.out, true, StandardCharsets.UTF_8);
    // What libraries print would stand between the answers.
    System.setOut(new PrintStream(OutputStream.nullOutputStream()));
    BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String line = lines.readLine(); line != null; line = lines.readLine()) {
      if (!line.isBlank()) {
        answers.println(answer(JsonParser.parseString(line).getAsJsonObject()));
      }
    }
  }

  private static JsonObject answer(JsonObject line) throws Exception {
    JsonObject answer = new JsonObject();
    answer.add("id", line.get("id"));
    JsonArray given = new JsonArray();
    Terminology terminology = new Terminology(line.getAsJsonArray("resources"));
    for (JsonElement question : line.getAsJsonArray("questions")) {
      given.add(terminology.answer(question.getAsJsonObject()));
    }
    answer.add("answers", given);
    return answer;
  }
}
