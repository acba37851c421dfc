package dev.fhirops.oracle;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.io.BufferedReader;
import java.io.FileOutputStream;
import java.io.FileDescriptor;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.hl7.fhir.utilities.http.ManagedWebAccess;

/**
 * Answers lines of standard input, or the files of a folder, with what HL7's Java validator finds: one line of JSON each.
 *
 * A line is a resource, the name of a file with one, or a request {@code {"id", "resource" | "text", "format", "profiles", "definitions", "options"}}.
 */
public final class Oracle {
  private Oracle() {}

  public static void main(String[] args) throws Exception {
    Path home = null;
    Path folder = null;
    List<Path> packages = new ArrayList<>();
    for (int i = 0; i + 1 < args.length; i += 2) {
      switch (args[i]) {
        case "--home" -> home = Path.of(args[i + 1]);
        case "--package" -> packages.add(Path.of(args[i + 1]));
        case "--folder" -> folder = Path.of(args[i + 1]);
        default -> throw new IllegalArgumentException("Unknown option " + args[i]);
      }
    }
    if (home == null || args.length % 2 == 1) {
      throw new IllegalArgumentException("Usage: --home FOLDER [--package FILE.tgz]... [--folder FOLDER]");
    }
    // What the validator prints must not stand between the answers.
    PrintStream answers = new PrintStream(new FileOutputStream(FileDescriptor.out), true, StandardCharsets.UTF_8);
    System.setOut(System.err);
    // It would ask registries of packages, again and again, and wait for each.
    ManagedWebAccess.setAccessPolicy(ManagedWebAccess.WebAccessPolicy.PROHIBITED);
    long start = System.currentTimeMillis();
    Validator validator = new Validator(PackageFolder.prepare(home), packages);
    System.err.println("Ready after " + (System.currentTimeMillis() - start) + " ms.");
    if (folder == null) {
      answerLines(validator, answers);
    } else {
      answerFolder(validator, folder, answers);
    }
  }

  private static void answerLines(Validator validator, PrintStream answers) throws IOException {
    BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    int count = 0;
    for (String line = lines.readLine(); line != null; line = lines.readLine()) {
      if (line.isBlank()) {
        continue;
      }
      count++;
      answers.println(validator.answer(requestOf(line.strip(), count)));
    }
  }

  private static void answerFolder(Validator validator, Path folder, PrintStream answers) throws IOException {
    List<Path> files;
    try (Stream<Path> found = Files.walk(folder)) {
      files = found.filter(file -> file.toString().endsWith(".json")).sorted().toList();
    }
    for (Path file : files) {
      answers.println(validator.answer(requestOf(file.toString(), 0)));
    }
  }

  private static Request requestOf(String line, int number) throws IOException {
    if (!line.startsWith("{")) {
      return Request.ofText(line, Files.readString(Path.of(line)));
    }
    JsonElement json;
    try {
      json = JsonParser.parseString(line);
    } catch (RuntimeException e) {
      return Request.ofText(String.valueOf(number), line);
    }
    JsonObject object = json.getAsJsonObject();
    boolean isRequest = !object.has("resourceType") && (object.has("resource") || object.has("text"));
    return isRequest ? Request.of(object, number) : Request.ofText(String.valueOf(number), line);
  }
}
