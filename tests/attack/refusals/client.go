// Sends requests that are refused, with net/http. Prints `ok` for each that got its Status, or what it got.
package main

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
)

type refusal struct {
	Status                                    int
	Reason, Method, Path, Token, Accept, Type string
}

func or(given, otherwise string) string {
	if given != "" {
		return given
	}
	return otherwise
}

func ask(client *http.Client, url string, of refusal, body string) error {
	request, err := http.NewRequest(of.Method, url+of.Path, strings.NewReader(body))
	if err != nil {
		return err
	}
	request.Header.Set("Authorization", "Bearer "+or(of.Token, "admintoken"))
	request.Header.Set("Content-Type", or(of.Type, "application/json"))
	if of.Accept != "" {
		request.Header.Set("Accept", of.Accept)
	}
	answer, err := client.Do(request)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		return err
	}
	var status struct{ Reason string }
	if err := json.Unmarshal(text, &status); err != nil {
		return err
	}
	if answer.StatusCode != of.Status || status.Reason != of.Reason {
		return fmt.Errorf("%d %s wanted, %d %s got", of.Status, of.Reason, answer.StatusCode, status.Reason)
	}
	return nil
}

func main() {
	protocol, url, authority := os.Args[1], os.Args[2], os.Args[3]
	size, _ := strconv.Atoi(os.Args[4])
	rounds, _ := strconv.Atoi(os.Args[5])
	var cases []refusal
	if err := json.Unmarshal([]byte(os.Getenv("CASES")), &cases); err != nil {
		panic(err)
	}
	transport := &http.Transport{ForceAttemptHTTP2: protocol == "http2-tls"}
	if protocol != "http2-tls" {
		transport.TLSNextProto = map[string]func(string, *tls.Conn) http.RoundTripper{}
	}
	if authority != "-" {
		pem, err := os.ReadFile(authority)
		if err != nil {
			panic(err)
		}
		roots := x509.NewCertPool()
		roots.AppendCertsFromPEM(pem)
		transport.TLSClientConfig = &tls.Config{RootCAs: roots}
	}
	client := &http.Client{Transport: transport}
	body := strings.Repeat("x", size)
	for at := 0; at < rounds; at++ {
		of := cases[at%len(cases)]
		if err := ask(client, url, of, body); err != nil {
			fmt.Printf("%s %s: %v\n", of.Method, of.Path, err)
		} else {
			fmt.Println("ok")
		}
		if at%50 == 49 {
			client.CloseIdleConnections()
		}
	}
}
